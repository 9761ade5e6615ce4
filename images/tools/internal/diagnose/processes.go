package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

const (
	shownProcesses = 12
	largest        = 3
	// maxRuntimes is how many processes are asked what runs them: the first may be an init or a shell.
	maxRuntimes = 8
	tick        = 10 * time.Millisecond
)

type processesSection struct {
	// version of the runtime, "" where it is not known.
	version string
	began   time.Time
}

func (s *processesSection) begin(look *Look) {
	fs := look.Target.FS()
	look.tree = readTree(fs, look.Target.PID)
	s.began = time.Now()
	for index := range look.tree.living {
		each := &look.tree.living[index]
		each.used, _, _ = fs.Times(fmt.Sprint(each.pid))
		each.later = each.used
		if index < maxListed {
			each.title = titleOf(fs.Cmdline(each.pid))
		}
	}
	look.runtime, s.version = runtimeOf(fs, look.tree.pids)
}

// runtimeOf is the runtime of the first process that is more than native.
func runtimeOf(fs target.FS, pids []int) (target.Runtime, string) {
	best := target.Unknown
	for _, pid := range pids[:min(len(pids), maxRuntimes)] {
		switch runtime, its := fs.RuntimeOf(pid); runtime {
		case target.Unknown:
		case target.Native:
			best = runtime
		default:
			return runtime, its
		}
	}
	return best, ""
}

// runtimeWords is "a Python 3.11 program"; "" where nothing is known.
func runtimeWords(runtime target.Runtime, version string) string {
	name := runtime.Language()
	if runtime == target.Native {
		name = "native"
	}
	if name == "" {
		return ""
	}
	return "a " + strings.TrimSpace(name+" "+plain(version)) + " program"
}

func (s *processesSection) end(look *Look) *rules.Part {
	part, tree := rules.NewPart("processes"), &look.tree
	passed := time.Since(s.began)
	fs := look.Target.FS()
	for index := range tree.living {
		each := &tree.living[index]
		if used, _, err := fs.Times(fmt.Sprint(each.pid)); err == nil {
			each.later = used
		}
	}
	part.Find("zombies", float64(tree.zombies), "%d processes have ended and were not waited for (zombies)", tree.zombies)
	part.Find("uninterruptible", float64(tree.waiting), "%d processes wait for a disk or a network file system (state D)", tree.waiting)
	pids(look, part)
	if tree.count > 1 {
		tellProcesses(part, tree.living, passed)
	}
	part.Section.Text = s.summary(look)
	look.amount("threads", int64(tree.threads), "threads")
	look.amount("threads", int64(tree.count), "processes")
	look.amount("threads", int64(tree.zombies), "zombies")
	return part
}

func (s *processesSection) summary(look *Look) string {
	tree := &look.tree
	text := fmt.Sprintf("%d with %s", tree.count, report.Counted(tree.threads, "thread"))
	if since := sinceStart(look.Target.FS(), look.Target.Start); since > 0 {
		text += ", started " + lengthOf(since) + " ago"
	}
	text += fmt.Sprintf(", %s, %d uninterruptible, %d MiB resident", report.Counted(tree.zombies, "zombie"), tree.waiting, tree.residentKiB/1024)
	text += waitingTitles(tree.living)
	if large := largestOf(tree.living); large != "" {
		text += " (largest: " + large + ")"
	}
	if words := runtimeWords(look.runtime, s.version); words != "" {
		text += ", " + words
	}
	score := strings.TrimSpace(readFile(look.Target.FS().Path(look.Target.PID, "oom_score_adj")))
	return text + ", oom_score_adj " + cmp.Or(score, "unknown")
}

// sinceStart is the time since a start in ticks after the node's; 0 where it is not known.
func sinceStart(fs target.FS, start int64) time.Duration {
	words := strings.Fields(readFile(string(fs) + "/uptime"))
	if start == 0 || len(words) == 0 {
		return 0
	}
	up, err := time.ParseDuration(words[0] + "s")
	if err != nil {
		return 0
	}
	return up - time.Duration(start)*tick
}

func largestOf(living []process) string {
	sorted := slices.Clone(living)
	slices.SortStableFunc(sorted, func(a, b process) int { return cmp.Compare(b.ResidentKiB, a.ResidentKiB) })
	var words []string
	for _, each := range sorted[:min(len(sorted), largest)] {
		if each.ResidentKiB > 0 {
			words = append(words, fmt.Sprintf("%s %d MiB", report.Name(each.Name, maxTitle), each.ResidentKiB/1024))
		}
	}
	return strings.Join(words, ", ")
}

// pids is how near the cgroup is to its most processes and threads.
func pids(look *Look, part *rules.Part) {
	most, now := cgroup.Number(look.cgroup.PIDs, "pids.max"), cgroup.Number(look.cgroup.PIDs, "pids.current")
	if !now.Known || most.Value == 0 {
		return
	}
	share := now.Value * 100 / most.Value
	part.Find("pids_near_limit", float64(share), "processes and threads at %d%% of the limit (%d of %d)", share, now.Value, most.Value)
}
