package room

import (
	"io"
	"io/fs"
	"strings"
	"testing"
)

type files map[string]string

func (f files) open(name string) (io.ReadCloser, error) {
	text, known := f[name]
	if !known {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func TestTheMemoryThatIsLeftIsRead(t *testing.T) {
	for name, each := range map[string]struct {
		files files
		known bool
		free  int64
	}{
		"version 2":                {files{"memory.max": "104857600\n", "memory.current": "90000000\n", "memory.stat": "anon 1\ninactive_file 20000000\n"}, true, 34857600},
		"version 1":                {files{"memory/memory.limit_in_bytes": "1000", "memory/memory.usage_in_bytes": "900", "memory/memory.stat": "inactive_file 7\ntotal_inactive_file 50"}, true, 150},
		"no limit, version 2":      {files{"memory.max": "max\n", "memory.current": "1"}, false, 0},
		"no limit, version 1":      {files{"memory/memory.limit_in_bytes": "9223372036854771712", "memory/memory.usage_in_bytes": "1"}, false, 0},
		"no cgroup":                {files{}, false, 0},
		"more than the limit":      {files{"memory.max": "5", "memory.current": "9"}, true, 0},
		"numbers that are no ones": {files{"memory.max": "-\n", "memory.current": "x"}, false, 0},
	} {
		memory, known := memoryOf(each.files.open)
		if known != each.known || memory.Free() != each.free {
			t.Errorf("%s: %+v, %v", name, memory, known)
		}
	}
}

func TestALookThatNeedsMoreMemoryThanThereIsIsRefusedWithTheFigure(t *testing.T) {
	if lack := (Memory{320 << 20, 300 << 20}).lack("Flight Recorder"); lack != nil {
		t.Errorf("%+v", lack)
	}
	lack := Memory{320 << 20, 301 << 20}.lack("Flight Recorder")
	if lack == nil || lack.Lacks != "memory: Flight Recorder may take 20 MiB, and the container has 19 of its 320 MiB left" {
		t.Errorf("%+v", lack)
	}
}

func TestAThrottledContainerIsToldBeforehand(t *testing.T) {
	for name, each := range map[string]struct{ before, after, want string }{
		"throttled": {"nr_periods 100\nnr_throttled 50", "nr_periods 103\nnr_throttled 53",
			"This look will be slow: the container has used up its CPU limit of 500 m, and the look lives on the limit of the same pod."},
		"it was once": {"nr_periods 100\nnr_throttled 50", "nr_periods 103\nnr_throttled 51", ""},
		"idle":        {"nr_periods 100\nnr_throttled 50", "nr_periods 100\nnr_throttled 50", ""},
		"no limit":    {"nr_periods 0\nnr_throttled 0", "nr_periods 0\nnr_throttled 0", ""},
	} {
		for version, prefix := range map[string]string{"2": "", "1": "cpu/"} {
			system := files{prefix + "cpu.stat": each.before, "cpu.max": "50000 100000"}
			if version == "1" {
				delete(system, "cpu.max")
				system["cpu/cpu.cfs_quota_us"], system["cpu/cpu.cfs_period_us"] = "50000", "100000"
			}
			if got := slow(system.open, func() { system[prefix+"cpu.stat"] = each.after }); got != each.want {
				t.Errorf("%s, version %s: %q", name, version, got)
			}
		}
	}
}
