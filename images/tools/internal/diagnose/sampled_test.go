package diagnose

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

// well are the numbers of a cgroup of version 2 that is well: 20 MiB in use, 10 of cache, of 100.
var well = map[string]string{
	"memory.current": "31457280\n", "memory.max": "104857600\n", "memory.stat": "anon 1\ninactive_file 10485760\npgscan_direct 0\n",
	"memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n",
	"cpu.stat":      "usage_usec 5000\nnr_periods 1000\nnr_throttled 10\nthrottled_usec 1\n", "cpu.max": "50000 100000\n",
}

// sampled is what a section finds of a cgroup that is well at the first reading and has other numbers at the second.
func sampled(t *testing.T, of section, later map[string]string) *rules.Part {
	t.Helper()
	root := folderWith(t, well)
	self, err := target.OneOf(os.Getpid())
	must(t, err)
	look := &Look{Target: self, Settings: Settings{Cgroup: root}, cgroup: cgroup.Group{Version: 2, Memory: opened(t, root), CPU: opened(t, root), PIDs: opened(t, root)}}
	of.begin(look)
	for name, text := range later {
		must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	return of.end(look)
}

func TestMemoryIsHeldBackWhereTheSampleSaysSo(t *testing.T) {
	nearlyFull := map[string]string{"memory.current": "99614720\n"}
	for _, each := range []struct {
		what   string
		more   map[string]string
		events string
		value  float64
	}{
		{"not when nothing grew", nil, "high 0\nmax 0\n", 0},
		{"at its limit", nearlyFull, "high 0\nmax 4\n", 4},
		{"not at its limit for the cache of files", nil, "high 0\nmax 4000\n", 0},
		{"above its high mark, whatever is in use", nil, "high 3\nmax 4000\n", 3},
		{"both", nearlyFull, "high 3\nmax 4\n", 7},
	} {
		later := map[string]string{"memory.events": each.events}
		maps.Copy(later, each.more)
		value := 0.0
		for _, finding := range sampled(t, &memorySection{}, later).Findings {
			if finding.Code == "memory_held_back" {
				value = *finding.Value
			}
		}
		if value != each.value {
			t.Errorf("%s: %v", each.what, value)
		}
	}
}

func TestThrottlingIsThatOfTheSample(t *testing.T) {
	part := sampled(t, &cpuSection{}, map[string]string{"cpu.stat": "usage_usec 9000\nnr_periods 1010\nnr_throttled 18\nthrottled_usec 70001\n"})
	if len(part.Findings) != 1 || part.Findings[0].Text != "CPU throttled in 80% of the last periods (8 of 10, 70 ms)" {
		t.Errorf("%+v", part.Findings)
	}
	// What was throttled before the sample is no finding of it.
	past := sampled(t, &cpuSection{}, map[string]string{"cpu.stat": "usage_usec 9000\nnr_periods 1010\nnr_throttled 10\nthrottled_usec 1\n"})
	if len(past.Findings) != 0 {
		t.Errorf("%+v", past.Findings)
	}
}
