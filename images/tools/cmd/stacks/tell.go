package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

const (
	maxFrames = 10
	maxGroups = 5
	// minShare is the least that is told of a frame.
	minShare = 0.005
)

// tell writes the words for people: for each process what is blocked, what is hot, and where most threads are. Those that wait or compute
// come first.
func (l *look) tell(out io.Writer) {
	shown := l.worthTelling()
	for _, dump := range shown {
		l.tellProcess(out, dump)
	}
	if rest := len(l.dumps) + len(l.others) - len(shown); rest > 0 {
		say(out, "\n%s: threads.txt has them; STACKS_PID chooses one", report.Counted(rest, "other process of the container is not told here", "other processes of the container are not told here"))
	}
}

// worthTelling are the processes that are told one by one: the chosen ones, and of the others those that stand out.
func (l *look) worthTelling() []*stack.Dump {
	shown := slices.Clone(l.dumps)
	for _, dump := range l.others {
		if l.standsOut(dump) > 0 {
			shown = append(shown, dump)
		}
	}
	slices.SortStableFunc(shown, func(a, b *stack.Dump) int { return l.standsOut(b) - l.standsOut(a) })
	return shown[:min(len(shown), maxDumped)]
}

// standsOut is how much a process does so: it says that it waits, it is busy, or neither.
func (l *look) standsOut(dump *stack.Dump) int {
	title := l.titles[dump.Process.PID]
	switch {
	case strings.HasSuffix(title, " waiting"):
		return 3
	case inTransaction.MatchString(title):
		return 2
	case dump.Cores >= stack.MinCores:
		return 1
	}
	return 0
}

func (l *look) tellProcess(out io.Writer, dump *stack.Dump) {
	title := ""
	if words := dump.Process.Title(); words != "" {
		title = " " + report.Quoted(words, 100)
	}
	say(out, "\nprocess %d, %s%s (%s), as %d:%d: %s", dump.Process.PID, report.Name(dump.Process.Name, 40), title, dump.Runtime, dump.Process.UID, dump.Process.GID, count(dump))
	if dump.Pause != "" {
		say(out, "    %s", dump.Pause)
	}
	if dump.Lack != nil {
		say(out, "    lacks: %s%s", dump.Lack.Lacks, helps(dump.Lack.Helps))
	}
	for _, each := range append(slices.Clone(dump.Notes), dump.Unseen, dump.Silent, dump.Exposed) {
		if each != "" {
			say(out, "    %s", each)
		}
	}
	for _, names := range dump.Deadlocks {
		say(out, "  deadlock of %s", quoted(names, 8))
		tellThreads(out, dump, names)
	}
	tellLocks(out, dump)
	tellHot(out, dump)
	tellGroups(out, dump)
}

// tellHot tells the hottest frames, where enough was sampled to say so.
func tellHot(out io.Writer, dump *stack.Dump) {
	if dump.Samples < stack.MinSamples || dump.Cores < stack.MinCores {
		return
	}
	say(out, "  hottest frames, of %.2f of a core", dump.Cores)
	for _, frame := range stack.Hottest(withoutIdle(dump.Hot), maxFrames) {
		if frame.Share < minShare {
			break
		}
		say(out, "    %3.0f%%  %s", 100*frame.Share, frame.Name)
	}
}

func count(dump *stack.Dump) string {
	if len(dump.Threads) == 0 {
		return "its main thread"
	}
	return fmt.Sprintf("%s (%s)", report.Counted(len(dump.Threads), unitOf(dump)), stack.Summary(dump.Threads))
}

func tellThreads(out io.Writer, dump *stack.Dump, names []string) {
	for _, each := range dump.Threads {
		if !slices.Contains(names, each.Name) {
			continue
		}
		say(out, "    %q waits for a %s, and holds %s", each.Name, each.WaitsForKind, report.Counted(len(each.Holds), "lock"))
		for _, frame := range each.Frames[:min(3, len(each.Frames))] {
			say(out, "      %s", frame)
		}
	}
}

func tellLocks(out io.Writer, dump *stack.Dump) {
	for index, lock := range stack.Locks(dump.Threads) {
		if index == 0 {
			say(out, "  waits for locks")
		}
		if index == maxGroups {
			say(out, "    and more: see threads.txt")
			break
		}
		holder := "nobody that is known"
		if lock.By != nil {
			holder = report.Quoted(lock.Holder, maxQuoted) + holding(*lock.By)
		}
		say(out, "    %s for a %s, held by %s: %s", report.Counted(len(lock.Waiters), "thread"), lock.Kind, holder, quoted(lock.Waiters, 4))
	}
}

// tellGroups tells where threads are together, or, where there are few, where each is: those that compute first,
// then those in the program's own code, and the idle last.
func tellGroups(out io.Writer, dump *stack.Dump) {
	groups := stack.Groups(dump.Threads)
	slices.SortStableFunc(groups, func(a, b stack.Group) int { return rankOf(a) - rankOf(b) })
	told := 0
	// Of a process with one thread and no stack, all is said.
	if len(dump.Threads) == 1 && len(dump.Threads[0].Frames) == 0 {
		return
	}
	for _, group := range groups {
		if told == 0 {
			say(out, "  where the threads are")
		}
		if told++; told > maxGroups {
			say(out, "    and more: see threads.txt")
			break
		}
		waited, place := "", ""
		if group.Minutes > 0 {
			waited = fmt.Sprintf(", up to %d minutes", group.Minutes)
		}
		if at := ownOrFirst(group.Own, group.Frames); at != "" {
			place = ": " + at
		}
		say(out, "    %s, %s%s%s", quoted(group.Names, 3), group.Does, waited, place)
	}
}

func rankOf(group stack.Group) int {
	switch {
	case group.Class == thread.OnCPU || group.Class == thread.Ready:
		return 0
	case group.Does == "idle":
		return 3
	case group.Own == "":
		return 2
	}
	return 1
}

// files are those for the log: all threads in one text, and what a runtime gave beside it.
func (l *look) files() []stack.File {
	var text strings.Builder
	var others []stack.File
	for _, dump := range l.all() {
		if dump.Text != "" {
			title := ""
			if words := dump.Process.Title(); words != "" {
				title = ", " + report.Line(words, 100)
			}
			fmt.Fprintf(&text, "Process %d, %s (%s)%s\n\n%s\n", dump.Process.PID, report.Line(dump.Process.Name, 40), report.Line(dump.Runtime, 40), title, report.Lines(dump.Text))
		}
		for _, file := range dump.Files {
			if len(l.dumps) > 1 {
				file.Name = strconv.Itoa(dump.Process.PID) + "-" + file.Name
			}
			// A JVM's answer; the others are for programs.
			if strings.HasSuffix(file.Name, ".txt") {
				file.Content = []byte(report.Lines(string(file.Content)))
			}
			others = append(others, file)
		}
	}
	if text.Len() == 0 {
		return others
	}
	return append([]stack.File{{Name: "threads.txt", Content: []byte(text.String())}}, others...)
}

// all are the dumps of the chosen processes, and of those beside them.
func (l *look) all() []*stack.Dump { return append(slices.Clone(l.dumps), l.others...) }

// threads are those of the chosen processes.
func (l *look) threads() []stack.Thread {
	var threads []stack.Thread
	for _, dump := range l.dumps {
		threads = append(threads, dump.Threads...)
	}
	return threads
}

// unit is what the stacks are of.
func (l *look) unit() string {
	for _, dump := range l.dumps {
		if unitOf(dump) == "goroutine" {
			return "goroutine"
		}
	}
	return "thread"
}

func unitOf(dump *stack.Dump) string {
	if dump.Process.Runtime != target.JVM && dump.Process.Runtime != target.Python && len(dump.Threads) > 0 && dump.Threads[0].ID == 0 {
		return "goroutine"
	}
	return "thread"
}
