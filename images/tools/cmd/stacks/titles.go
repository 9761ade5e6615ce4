package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

var (
	// A number, or an address with its port, as "10.0.0.9(40312)".
	digits = regexp.MustCompile(`[-_ #]*\d[\d.:]*(\(\d+\))?`)
	// "postgres: shop shop 10.0.0.9(40312) UPDATE waiting"
	statement     = regexp.MustCompile(`([A-Z][A-Z ]*) waiting$`)
	inTransaction = regexp.MustCompile(`idle in transaction( \(aborted\))?$`)
)

// processes marks a pool whose members are processes.
const processes = " (processes)"

// pools are those of all threads. A program with a thread for each process has them by the processes' names. Processes that were not asked for
// their stacks although others of the same kind were would hide what those have in common: they are left out.
func (l *look) pools() []stack.Pool {
	var threads []stack.Thread
	names := processPools(l.target.Processes)
	for _, dump := range l.all() {
		if l.isUnasked(dump) {
			continue
		}
		for _, each := range dump.Threads {
			if each.ID == dump.Process.PID && len(l.target.Processes) > 1 {
				each.Name = names[dump.Process.PID] + processes
			}
			threads = append(threads, each)
		}
	}
	return stack.Pools(threads)
}

func (l *look) isUnasked(dump *stack.Dump) bool {
	return dump.Process.Runtime == l.target.Runtime && hasStacks(l.target.Runtime) && !slices.Contains(l.dumps, dump)
}

// processPools are what the workers of one program have in common in their names, as "nginx: worker process", by process: the whole name where all have
// the same, else the one without numbers.
func processPools(all []target.Process) map[int]string {
	pools, names := map[int]string{}, map[string]string{}
	for _, process := range all {
		name := cmp.Or(process.Title(), process.Name)
		stem := digits.ReplaceAllString(name, "")
		if first, known := names[stem]; known && first != name {
			name = stack.Stem(strings.TrimSpace(stem))
		}
		names[stem], pools[process.PID] = name, stem
	}
	for pid, stem := range pools {
		pools[pid] = names[stem]
	}
	return pools
}

// findTitles finds processes that say of themselves that they wait, both times they were asked, and did nothing in between.
func (l *look) findTitles(part *rules.Part) {
	waiting, holding := l.waitingByTitle()
	if len(waiting) == 0 {
		return
	}
	part.Find("lock_queue", float64(len(waiting)), "%s", titleWords(waiting, holding))
}

// waitingByTitle are the titles of the processes that wait, and of the sessions of PostgreSQL that may hold what they wait for.
func (l *look) waitingByTitle() (waiting, holding []string) {
	for _, dump := range l.all() {
		title := titleNow(l.target.FS(), dump.Process)
		if title == "" || !stillOf(dump) {
			continue
		}
		switch {
		case statement.MatchString(title) && title == l.titles[dump.Process.PID]:
			waiting = append(waiting, title)
		case inTransaction.MatchString(title):
			holding = append(holding, title)
		}
	}
	return waiting, holding
}

func titleNow(fs target.FS, process target.Process) string {
	return target.Process{Command: fs.Cmdline(process.PID)}.Title()
}

func stillOf(dump *stack.Dump) bool {
	for _, each := range dump.Threads {
		if each.ID == dump.Process.PID {
			return each.Kernel.Still()
		}
	}
	return false
}

// titleWords is "6 sessions of postgres wait for a lock (UPDATE); shop 10.0.0.9(40312) is idle in a transaction and may hold it".
func titleWords(waiting, holding []string) string {
	program, _, _ := strings.Cut(waiting[0], ":")
	statements := map[string]bool{}
	for _, title := range waiting {
		statements[statement.FindStringSubmatch(title)[1]] = true
	}
	words := report.Counted(len(waiting), "session of "+program+" waits", "sessions of "+program+" wait") + " for a lock (" + strings.Join(keys(statements), ", ") + ")"
	switch len(holding) {
	case 0:
		return words
	case 1:
		_, who, _ := strings.Cut(inTransaction.ReplaceAllString(holding[0], ""), ": ")
		return words + fmt.Sprintf("; %s is idle in a transaction and may hold it", strings.TrimSpace(who))
	}
	return words + fmt.Sprintf("; %d are idle in a transaction and may hold it", len(holding))
}
