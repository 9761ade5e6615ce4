package diagnose

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

// waited is a look at a process 7 whose threads have waited so long for a CPU within ten seconds.
func waited(t *testing.T, waits map[string]time.Duration) (*Look, delays) {
	t.Helper()
	files, before, id := map[string]string{}, map[int]time.Duration{}, 7
	for name, wait := range waits {
		folder := fmt.Sprintf("7/task/%d", id)
		files[filepath.Join(folder, "schedstat")] = fmt.Sprintf("5000000 %d 9\n", int64(time.Hour+wait))
		files[filepath.Join(folder, "status")] = "Name:\t" + name + "\nState:\tS (sleeping)\nUid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\n"
		before[id] = time.Hour
		id++
	}
	fs := target.FS(folderWith(t, files))
	look := &Look{Target: (&target.Target{}).In(fs), Settings: Settings{Sample: 10 * time.Second}}
	look.tree.living = []process{{Status: target.Status{Name: "ruby"}, pid: 7}}
	return look, delays{7: before}
}

// A full node, or a limit of a whole CPU, holds a thread up without throttling the container.
func TestAThreadThatGetsNoCPUIsFound(t *testing.T) {
	for name, each := range map[string]struct {
		waits   map[string]time.Duration
		runtime target.Runtime
		want    string
	}{
		"most of the time":             {map[string]time.Duration{"server.rb:289": 5700 * time.Millisecond, "timer": time.Second}, target.Ruby, "thread server.rb:289 of ruby was ready to run and had no CPU for 57 % of the time"},
		"the process's own thread":     {map[string]time.Duration{"ruby": 4 * time.Second}, target.Ruby, "a thread of ruby was ready to run and had no CPU for 40 % of the time"},
		"for less than is told":        {map[string]time.Duration{"ruby": 3 * time.Second}, target.Ruby, ""},
		"a healthy one on a full node": {map[string]time.Duration{"ruby": 800 * time.Millisecond, "a": 800 * time.Millisecond}, target.Ruby, ""},
		"the compiler of a JVM":        {map[string]time.Duration{"C2 CompilerThre": 9 * time.Second}, target.JVM, ""},
		"none that is known":           {nil, target.Ruby, ""},
	} {
		look, before := waited(t, each.waits)
		look.runtime = each.runtime
		part := rules.NewPart("cpu")
		before.findStarved(look, part, 10*time.Second, quota{})
		got := ""
		if len(part.Findings) > 0 {
			got = part.Findings[0].Text
		}
		if got != each.want || got != "" && part.Findings[0].Code != "waits_for_cpu" {
			t.Errorf("%s: %+v", name, part.Findings)
		}
	}
}

func TestAWaitForCPUThatTheLimitExplainsIsToldOnce(t *testing.T) {
	for _, code := range []string{"cpu_throttled", "cpu_near_limit"} {
		look, before := waited(t, map[string]time.Duration{"ruby": 7 * time.Second})
		part := rules.NewPart("cpu")
		part.Findings = []report.Finding{{Code: code}}
		before.findStarved(look, part, 10*time.Second, quota{})
		if len(part.Findings) != 1 {
			t.Errorf("%s: %+v", code, part.Findings)
		}
	}
}

func TestTheWaitsOfAtMostSoManyThreadsAreRead(t *testing.T) {
	look, _ := waited(t, map[string]time.Duration{"a": 0, "b": 0})
	if got := readDelays(look); len(got[7]) != 2 || got[7][7] != time.Hour {
		t.Errorf("%v", got)
	}
	look.tight = true
	if got := readDelays(look); got != nil {
		t.Errorf("without room: %v", got)
	}
}

func TestOnlyWhatIsProvenIsSaidOfACPULimit(t *testing.T) {
	number := func(value int64) cgroup.Amount { return cgroup.Amount{Value: value, Known: true} }
	stalled := func(share float64) cgroup.Stall {
		return cgroup.Stall{Length: time.Duration(share * float64(10*time.Second)), Known: true}
	}
	const notItsOwn, unsure = "it is not its own CPU limit that holds it up", "This look cannot tell the two from a busy node."
	for name, each := range map[string]struct {
		limit, theirs cgroup.Amount
		ours          time.Duration
		stalled       cgroup.Stall
		want          string
	}{
		"together at the limit, as seen on a slow node": {number(200), number(1_020_000), 940 * time.Millisecond, stalled(0.9),
			"Its CPU limit holds it up: it used 102 of 200 millicores, and this look, in the same pod, 94."},
		"alone at the limit":                     {number(200), number(1_990_000), 0, cgroup.Stall{}, "Its CPU limit holds it up: it used 199 of 200 millicores"},
		"far below it, with this look too":       {number(2000), number(900_000), 100 * time.Millisecond, cgroup.Stall{}, notItsOwn},
		"in between":                             {number(200), number(1_000_000), 100 * time.Millisecond, cgroup.Stall{}, unsure},
		"in between, and never stopped as whole": {number(200), number(1_000_000), 100 * time.Millisecond, stalled(0.1), "no CPU limit holds it up"},
		"none of its own":                        {number(0), number(900_000), 0, stalled(0.9), "it has no CPU limit of its own."},
		"one that is not visible":                {cgroup.Amount{}, number(900_000), 0, cgroup.Stall{}, unsure},
		"use that is not visible":                {number(2000), cgroup.Amount{}, 0, cgroup.Stall{}, unsure},
	} {
		got := quota{limit: each.limit, theirs: each.theirs, ours: each.ours, stalled: each.stalled, elapsed: 10 * time.Second}.next(0.9)
		if !strings.Contains(got, each.want) || len(got) > 300 {
			t.Errorf("%s: %s", name, got)
		}
		if each.want == unsure && strings.Contains(got, "not its own") {
			t.Errorf("%s claims what is not proven: %s", name, got)
		}
	}
}

func TestOurOwnUseAndTheTargetsAreThoseOfTheSample(t *testing.T) {
	before := quota{limit: cgroup.Amount{Value: 200, Known: true}, ours: ownCPU(), stalled: cgroup.Stall{Length: time.Second, Known: true}}
	for began := ownCPU(); ownCPU()-began < 20*time.Millisecond; {
	}
	known := func(value int64) cgroup.Amount { return cgroup.Amount{Value: value, Known: true} }
	got := before.since(known(1500), known(1000), cgroup.Stall{Length: 3 * time.Second, Known: true}, 10*time.Second)
	if got.ours < 20*time.Millisecond || got.theirs.Value != 500 || got.stalled.Length != 2*time.Second {
		t.Errorf("%+v", got)
	}
}
