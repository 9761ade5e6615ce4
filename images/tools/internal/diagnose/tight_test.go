package diagnose

import (
	"testing"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/target"
)

func cgroupWith(t *testing.T, used, limit string) cgroup.Group {
	t.Helper()
	return cgroup.At(folderWith(t, map[string]string{"memory.current": used + "\n", "memory.max": limit + "\n", "memory.stat": "inactive_file 1048576\n"}))
}

func TestOnlyWhatIsVitalIsLookedAtWhereTheTargetHasNoRoom(t *testing.T) {
	for name, test := range map[string]struct {
		used, limit string
		named       string
		left        int
	}{
		"95 of 100 MiB":          {"99614720", "104857600", "", 9},
		"90 of 100 MiB":          {"94371840", "104857600", "", 0},
		"no limit":               {"99614720", "max", "", 0},
		"not the one we live in": {"99614720", "104857600", "/cgroup", 0},
	} {
		look := &Look{Target: &target.Target{}, Settings: Settings{Cgroup: test.named}, cgroup: cgroupWith(t, test.used, test.limit)}
		left := 0
		for _, each := range look.withinRoom(sections()) {
			if each.section, _ = each.section.(*leftOut); each.section != (*leftOut)(nil) {
				left++
				if part := each.end(look); part.Section.State != report.NotReadable || part.Section.Text != "not looked at: the container has 6 of its 100 MiB left, and a whole look may take 8" {
					t.Errorf("%s: %+v", name, part.Section)
				}
			}
		}
		if left != test.left || look.tight != (left > 0) {
			t.Errorf("%s: %d sections are left out", name, left)
		}
	}
}
