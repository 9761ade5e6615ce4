package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

const (
	maxTitle = 100
	// busyTicks of CPU within the sample are worth a word.
	busyTicks = 2
)

// titleOf is the title that a program gave itself, bounded; "" for one that did not.
func titleOf(command []string) string {
	title := plain(target.Process{Command: command}.Title())
	if len(title) > maxTitle {
		title = title[:maxTitle-3] + "..."
	}
	return title
}

// isWaiting is whether a process says that it waits, or waits in the kernel for a disk.
func (p process) isWaiting() bool {
	return p.State == 'D' || slices.Contains(strings.Fields(strings.ToLower(p.title)), "waiting")
}

// waitingTitles are those who say that they wait, with the first of their titles.
func waitingTitles(living []process) string {
	many, first := 0, ""
	for _, each := range living {
		if each.title == "" || !each.isWaiting() {
			continue
		}
		if many++; many == 1 {
			first = each.title
		}
	}
	if many == 0 {
		return ""
	}
	return fmt.Sprintf(", %s (%s)", report.Counted(many, "says that it waits", "say that they wait"), report.Quoted(first, maxTitle))
}

// doing is a process' state in plain words.
func (p process) doing() string {
	switch p.State {
	case 'R':
		return "runs"
	case 'S', 'I':
		return "sleeps"
	case 'D':
		return "waits for a disk"
	case 'T':
		return "is stopped by a signal"
	case 't':
		return "is stopped by a debugger"
	}
	return "is in state " + string(p.State)
}

// tellProcesses shows those that are worth it: first who waits, then who used most CPU within the sample, then the others as they came.
func tellProcesses(part *rules.Part, living []process, passed time.Duration) {
	shown := slices.Clone(living)
	slices.SortStableFunc(shown, func(a, b process) int {
		return cmp.Or(cmp.Compare(atFirst(b), atFirst(a)), cmp.Compare(b.busy(), a.busy()))
	})
	for _, each := range shown[:min(len(shown), shownProcesses)] {
		words := ""
		if each.title != "" {
			words = " " + report.Quoted(each.title, maxTitle)
		}
		used := ""
		if each.busy() > 0 && passed > 0 {
			used = fmt.Sprintf(", %d millicores", each.busy()*int64(tick)*1000/int64(passed))
		}
		part.Say("%d %s%s %s%s, %s, %d MiB, child of %d", each.pid, report.Name(each.Name, maxTitle), words, each.doing(), used, report.Counted(each.Threads, "thread"), each.ResidentKiB/1024, each.Parent)
	}
	if rest := len(shown) - shownProcesses; rest > 0 {
		part.Say("and %s", report.Counted(rest, "more process", "more processes"))
	}
}

func atFirst(p process) int {
	if p.isWaiting() {
		return 1
	}
	return 0
}

// busy is the CPU that it used within the sample, in ticks; 0 where that is next to nothing.
func (p process) busy() int64 {
	if used := p.later - p.used; used >= busyTicks {
		return used
	}
	return 0
}
