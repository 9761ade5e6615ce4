package diagnose

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

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
		before.findStarved(look, part, 10*time.Second)
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
		before.findStarved(look, part, 10*time.Second)
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
