package room

import (
	"os"
	"path/filepath"
	"testing"

	"kdebug/tools/internal/cgroup"
)

// made is a folder with the files of a cgroup.
func made(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestTheMemoryThatIsLeftIsRead(t *testing.T) {
	for name, each := range map[string]struct {
		files map[string]string
		known bool
		free  int64
	}{
		"version 2":                {map[string]string{"memory.max": "104857600\n", "memory.current": "90000000\n", "memory.stat": "anon 1\ninactive_file 20000000\n"}, true, 34857600},
		"version 1":                {map[string]string{"memory/memory.limit_in_bytes": "1000", "memory/memory.usage_in_bytes": "900", "memory/memory.stat": "inactive_file 7\ntotal_inactive_file 50"}, true, 150},
		"no limit, version 2":      {map[string]string{"memory.max": "max\n", "memory.current": "1"}, false, 0},
		"no limit, version 1":      {map[string]string{"memory/memory.limit_in_bytes": "9223372036854771712", "memory/memory.usage_in_bytes": "1"}, false, 0},
		"no cgroup":                {map[string]string{}, false, 0},
		"more than the limit":      {map[string]string{"memory.max": "5", "memory.current": "9"}, true, 0},
		"numbers that are no ones": {map[string]string{"memory.max": "-\n", "memory.current": "x"}, false, 0},
	} {
		free, known := cgroup.At(made(t, each.files)).ReadMemory().Free()
		if known != each.known || free != each.free {
			t.Errorf("%s: %d, %v", name, free, known)
		}
	}
}

func TestALookThatNeedsMoreMemoryThanThereIsIsRefusedWithTheFigure(t *testing.T) {
	memory := func(used int64) cgroup.Memory {
		return cgroup.Memory{Limit: cgroup.Amount{Value: 320 << 20, Known: true}, Used: cgroup.Amount{Value: used << 20, Known: true}}
	}
	if lack := lack(memory(300), "Flight Recorder"); lack != nil {
		t.Errorf("%+v", lack)
	}
	lack := lack(memory(301), "Flight Recorder")
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
			files := map[string]string{prefix + "cpu.stat": each.before, "cpu.max": "50000 100000"}
			if version == "1" {
				delete(files, "cpu.max")
				files["cpu/cpu.cfs_quota_us"], files["cpu/cpu.cfs_period_us"] = "50000", "100000"
			}
			folder := made(t, files)
			got := slow(cgroup.At(folder), func() {
				if err := os.WriteFile(filepath.Join(folder, prefix+"cpu.stat"), []byte(each.after), 0o600); err != nil {
					t.Fatal(err)
				}
			})
			if got != each.want {
				t.Errorf("%s, version %s: %q", name, version, got)
			}
		}
	}
}
