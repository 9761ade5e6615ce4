package diagnose

import (
	"maps"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

// felt are the readings of a group of version 2 whose memory.stat begins and ends with these lines.
func felt(t *testing.T, before, after string) (cgroup.Felt, cgroup.Felt) {
	t.Helper()
	read := func(stat string) cgroup.Felt {
		return cgroup.At(folderWith(t, map[string]string{"memory.current": "1", "memory.stat": stat})).ReadFelt()
	}
	return read(before), read(after)
}

func TestMemoryThatIsReadAgainIsALackOfIt(t *testing.T) {
	number := func(mebibytes int64) cgroup.Amount { return cgroup.Amount{Value: mebibytes << 20, Known: true} }
	for name, each := range map[string]struct {
		used, limit   cgroup.Amount
		before, after string
		text, found   string
	}{
		"below its limit, as at that of its pod": {number(32), number(40), "workingset_refault_file 100", "workingset_refault_file 15700",
			"; 60 MiB read again in 3 s after the kernel had taken them away",
			"memory is short, although the container is below its limit: 60 MiB read again in 3 s after the kernel had taken them away (it holds 32 MiB)"},
		"at its limit": {number(39), number(40), "workingset_refault_file 100", "workingset_refault_file 15700",
			"; 60 MiB read again", "memory is short: 60 MiB read again"},
		"without a limit of its own": {number(32), cgroup.Amount{}, "workingset_refault_anon 100", "workingset_refault_anon 15700",
			"; 60 MiB read again", "memory is short, and not by a limit of the container's own: 60 MiB"},
		"little of much, as a database reads": {number(4000), number(5000), "workingset_refault_file 100", "workingset_refault_file 15700", "; 60 MiB read again", ""},
		"next to nothing":                     {number(1), number(40), "workingset_refault_file 100", "workingset_refault_file 1100", "", ""},
		"nothing":                             {number(32), number(40), "workingset_refault_file 100", "workingset_refault_file 100", "", ""},
		"what is not counted":                 {number(32), number(40), "anon 1", "anon 1", "; what it reads again is not visible", ""},
	} {
		section, part := &memorySection{}, rules.NewPart("memory")
		var now cgroup.Felt
		section.felt, now = felt(t, each.before, each.after)
		text := section.readAgain(part, cgroup.Memory{Used: each.used, Limit: each.limit}, now, 3*time.Second)
		found := ""
		if len(part.Findings) > 0 {
			found = part.Findings[0].Text
		}
		if !strings.HasPrefix(text, each.text) || (each.text == "") != (text == "") || !strings.HasPrefix(found, each.found) || (each.found == "") != (found == "") {
			t.Errorf("%s: %q, %q", name, text, found)
		}
	}
}

func TestAPodAtItsLimitHoldsItsContainerBackWithoutACount(t *testing.T) {
	full := map[string]string{"memory.current": "99614720\n"}
	for name, each := range map[string]struct {
		later map[string]string
		found string
	}{
		"nearly full, and taken from": {map[string]string{"memory.stat": "inactive_file 0\npgscan_direct 640\n"}, "the kernel took memory back from the container within the sample, at a limit above its own (640 pages looked at)"},
		"at its own limit as well":    {map[string]string{"memory.stat": "inactive_file 0\npgscan_direct 640\n", "memory.events": "max 4\n"}, "the cgroup hit its memory limit 4 times within the sample"},
		"nearly full alone":           {map[string]string{"memory.stat": "inactive_file 0\npgscan_direct 0\n"}, ""},
		"full of cache":               {map[string]string{"memory.stat": "inactive_file 90000000\npgscan_direct 640\n"}, ""},
	} {
		later := maps.Clone(full)
		maps.Copy(later, each.later)
		found := ""
		for _, finding := range sampled(t, &memorySection{}, later).Findings {
			if finding.Code == "memory_held_back" {
				found = finding.Text
			}
		}
		if found != each.found {
			t.Errorf("%s: %q", name, found)
		}
	}
}

// A section that cannot see the limit of the pod must not be called checked.
func TestMemoryIsNotCalledWellWhereNothingShowsALackOfIt(t *testing.T) {
	for name, each := range map[string]struct {
		more  map[string]string
		state string
	}{
		"neither pressure nor what is read again": {nil, report.NotReadable},
		"pressure":           {map[string]string{"memory.pressure": "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"}, report.OK},
		"what is read again": {map[string]string{"memory.stat": "inactive_file 10485760\nworkingset_refault_file 0\n"}, report.OK},
	} {
		part := sampled(t, &memorySection{}, each.more)
		if part.Section.State != each.state || !strings.Contains(part.Section.Text, "20 MiB in use (30 with cache) of 100 MiB") {
			t.Errorf("%s: %+v", name, part.Section)
		}
	}
}
