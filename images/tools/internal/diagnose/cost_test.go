package diagnose

import (
	"testing"

	"kdebug/tools/internal/cgroup"
)

func TestOurPeakIsThatOfOurContainer(t *testing.T) {
	inContainer := folderWith(t, map[string]string{"memory/memory.max_usage_in_bytes": "300\n"})
	onMachine := folderWith(t, map[string]string{"memory/memory.max_usage_in_bytes": "300\n", "memory/user/x": ""})
	second := folderWith(t, map[string]string{"memory.peak": "200\n"})
	for _, each := range []struct {
		name, mount, places string
		want                cgroup.Amount
	}{
		{"version 2", second, "0::/\n", cgroup.Amount{Value: 200, Known: true}},
		{"version 1 in a container", inContainer, "4:memory:/kubepods/pod1/abc\n", cgroup.Amount{Value: 300, Known: true}},
		{"version 1 on a machine", onMachine, "4:memory:/user\n", cgroup.Amount{}},
		{"version 1 at the root", onMachine, "4:memory:/\n", cgroup.Amount{}},
		{"none", t.TempDir(), "", cgroup.Amount{}},
	} {
		if got := ownPeak(each.mount, each.places); got != each.want {
			t.Errorf("%s: %+v", each.name, got)
		}
	}
}
