package diagnose

import (
	"os"
	"strings"
	"testing"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/target"
)

// What a kernel or a sandbox does not show is said to be so: it is never 0, and never fine.
func TestWhatIsNotVisibleIsSaid(t *testing.T) {
	for name, each := range map[string]struct {
		files       map[string]string
		memory, cpu string
		state       string
	}{
		"nothing, as in a namespace that hides all": {nil, "the target's cgroup has no such numbers", "the target's cgroup has no such numbers", report.NotReadable},
		"version 2 without PSI": {
			map[string]string{"memory.current": "31457280\n", "memory.max": "104857600\n", "memory.stat": "workingset_refault_file 1\n", "memory.events": "oom_kill 0\n", "cpu.stat": "usage_usec 9\n", "cpu.max": "max 100000\n"},
			"30 MiB in use (30 with cache) of 100 MiB, 30%; 0 out-of-memory kills; pressure is not visible", "no limit of its own, pressure is not visible", report.OK,
		},
		"limits that are none": {
			map[string]string{"memory.current": "31457280\n", "memory.max": "max\n", "memory.stat": "workingset_refault_file 1\n", "memory.events": "oom_kill 0\n", "cpu.stat": "usage_usec 9\n", "cpu.max": "max 100000\n"},
			"(30 with cache), no limit of its own; 0 out-of-memory kills", "no limit of its own", report.OK,
		},
		"a gVisor of version 1": {
			map[string]string{"memory/memory.usage_in_bytes": "31457280\n", "memory/memory.limit_in_bytes": "9223372036854771712\n", "cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n", "cpuacct/cpuacct.usage": "9000\n"},
			"30 MiB in use (30 with cache), no limit of its own; out-of-memory kills are not visible; what it reads again is not visible; pressure is not visible", "no limit of its own, pressure is not visible", "",
		},
		"limits that cannot be read": {
			map[string]string{"memory.current": "31457280\n", "memory.stat": "workingset_refault_file 1\n", "cpu.stat": "usage_usec 9\n"},
			"a limit is not visible; out-of-memory kills are not visible", "a limit is not visible", report.OK,
		},
		"throttling without the use": {
			map[string]string{"memory.current": "1\n", "cpu.stat": "nr_periods 1000\nnr_throttled 0\n", "cpu.max": "50000 100000\n"},
			"MiB in use", "what is in use is not visible, limit 500 millicores", "",
		},
	} {
		self, err := target.OneOf(os.Getpid())
		must(t, err)
		self.Readable = true
		look := &Look{Target: self, Self: target.Self{}, Settings: Settings{Cgroup: "named"}, cgroup: cgroup.At(folderWith(t, each.files))}
		for _, one := range []struct {
			section
			want string
		}{{&memorySection{}, each.memory}, {&cpuSection{}, each.cpu}} {
			one.begin(look)
			got := one.end(look).Section
			if !strings.Contains(got.Text, one.want) || each.state != "" && got.State != each.state {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}
