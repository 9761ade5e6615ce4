package main

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

const (
	maxFrames = 10
	maxGroups = 5
	// minShare is the least that is told of a frame.
	minShare = 0.005
	// stuckMinutes is from when on a waiting goroutine counts as stuck.
	stuckMinutes = 3
)

// parts are the sections of the report: what the threads wait for, and what computes.
func (l *look) parts() []*rules.Part {
	stacks, cpu := rules.NewPart("stacks"), rules.NewPart("cpu")
	count := 0
	var states []string
	for _, dump := range l.dumps {
		count += len(dump.Threads)
		findInStacks(stacks, dump)
		findInCPU(cpu, dump)
		if len(dump.Threads) > 0 {
			states = append(states, stack.States(dump.Threads))
		}
	}
	stacks.Section.Text = counted(len(l.dumps), "process")
	if count > 0 {
		stacks.Section.Text = fmt.Sprintf("%s in %s: %s", counted(count, l.unit()), stacks.Section.Text, strings.Join(states, "; "))
	}
	if hot := stack.Hottest(l.hot(), 1); len(hot) > 0 {
		cpu.Section.Text = fmt.Sprintf("hottest: %s, %.0f%% of the time", hot[0].Name, 100*hot[0].Share)
	} else if busy := l.busiest(); busy != nil {
		cpu.Section.Text = fmt.Sprintf("%s uses %.0f%% of a CPU", busy.Name, 100*busy.CPU)
	} else {
		cpu.Section.Text = "nothing computed"
	}
	if lack := l.lack(); lack != nil {
		stacks.Section.Lacks, stacks.Section.Helps = lack.Lacks, lack.Helps
		stacks.Section.State = report.NotReadable
	}
	return []*rules.Part{stacks, cpu}
}

// lack is why no stack could be had of any process; nil if one could.
func (l *look) lack() *target.Lack {
	for _, dump := range l.dumps {
		if dump.Lack == nil {
			return nil
		}
	}
	if len(l.dumps) == 0 {
		return &target.Lack{Lacks: "a process"}
	}
	return l.dumps[0].Lack
}

func findInStacks(part *rules.Part, dump *stack.Dump) {
	for _, names := range dump.Deadlocks {
		part.Find("deadlock", 0, "%d threads wait for each other’s locks: %s", len(names), quoted(names, 4))
	}
	for _, lock := range stack.Locks(dump.Threads) {
		if lock.Holder == "" {
			continue
		}
		part.Find("lock_queue", float64(len(lock.Waiters)), "%d threads wait for a %s that %q holds (%s)", len(lock.Waiters), lock.Kind, lock.Holder, placeOf(lock.HolderState, lock.HolderFrame))
	}
	stuck := map[string][]stack.Thread{}
	for _, thread := range dump.Threads {
		// A goroutine knows how long it has waited; other threads do not.
		if thread.Minutes >= stuckMinutes && thread.ID == 0 && thread.State != "IO wait" && thread.State != "syscall" {
			place := placeOf(thread.State, firstOwn(thread.Frames))
			stuck[place] = append(stuck[place], thread)
		}
	}
	for _, place := range sorted(stuck) {
		longest := 0
		for _, thread := range stuck[place] {
			longest = max(longest, thread.Minutes)
		}
		part.Find("same_place", float64(len(stuck[place])), "%d goroutines have waited up to %d minutes: %s", len(stuck[place]), longest, place)
	}
	hanging := 0
	for _, thread := range dump.Threads {
		if strings.HasPrefix(thread.State, "stuck in the kernel") {
			hanging++
		}
	}
	part.Find("thread_in_kernel", float64(hanging), "%s in the kernel", counted(hanging, "thread hangs", "threads hang"))
	if dump.Silent != "" {
		part.Find("runtime_silent", 0, "%s", dump.Silent)
	}
	if dump.Exposed != "" {
		part.Find("inspector_open", 0, "%s", dump.Exposed)
	}
}

func findInCPU(part *rules.Part, dump *stack.Dump) {
	if dump.Process.Runtime == target.Node && dump.HotIsSampled {
		busy, hottest := busyShare(dump.Hot)
		part.Find("event_loop_busy", 100*busy, "the event loop computes %.0f%% of the time, mostly in %s", 100*busy, hottest)
		return
	}
	for _, thread := range dump.Threads {
		if thread.CPU > 0 {
			part.Find("busy_thread", 100*thread.CPU, "%q uses %.0f%% of a CPU%s", thread.Name, 100*thread.CPU, in(firstOf(thread.Frames)))
		}
	}
}

// busyShare is how much of a Node profile is neither idle nor collection, and the frame that has most of it.
func busyShare(samples []stack.Sample) (float64, string) {
	share, hottest := 0.0, "no function"
	for _, frame := range stack.Hottest(samples, len(samples)) {
		switch frame.Name {
		case "(idle)", "(garbage collector)", "(program)":
			continue
		}
		if share == 0 {
			hottest = frame.Name
		}
		share += frame.Share
	}
	return share, hottest
}

// hot are the samples of all processes, without idleness.
func (l *look) hot() []stack.Sample {
	var samples []stack.Sample
	for _, dump := range l.dumps {
		for _, sample := range dump.Hot {
			if len(sample.Frames) > 0 && sample.Frames[0] != "(idle)" {
				samples = append(samples, sample)
			}
		}
	}
	return samples
}

// busiest is the thread that computes most; nil if none does.
func (l *look) busiest() *stack.Thread {
	var busiest *stack.Thread
	for _, dump := range l.dumps {
		for index := range dump.Threads {
			if thread := &dump.Threads[index]; thread.CPU > 0.01 && (busiest == nil || thread.CPU > busiest.CPU) {
				busiest = thread
			}
		}
	}
	return busiest
}

func (l *look) verdict(findings []report.Finding) string {
	if len(findings) > 0 {
		texts := make([]string, len(findings))
		for index, finding := range findings {
			texts[index] = finding.Text
		}
		return report.Line(fmt.Sprintf("%s: %s", counted(len(findings), "finding"), strings.Join(texts, "; ")), 299) + "."
	}
	if lack := l.lack(); lack != nil {
		return report.Line("No stacks: what lacks is "+lack.Lacks, 299) + "."
	}
	words := map[target.Runtime]string{
		target.JVM:    "No deadlock, and no queue at a lock",
		target.Python: "No thread computes all the time",
		target.Node:   "The event loop has time left",
		target.Go:     "No goroutines are stuck together",
	}[l.target.Runtime]
	if words == "" {
		words = "No thread hangs in the kernel or computes all the time"
	}
	if hot := stack.Hottest(l.hot(), 1); len(hot) > 0 {
		words += fmt.Sprintf("; most of the time in %s", hot[0].Name)
	}
	return report.Line(words, 299) + "."
}

// tell writes the words for people: what is blocked, what is hot, and where most threads are.
func (l *look) tell(out io.Writer) {
	for _, dump := range l.dumps {
		say(out, "\nprocess %d, %s (%s), as %d:%d: %s%s", dump.Process.PID, dump.Process.Name, dump.Runtime, dump.Process.UID, dump.Process.GID, l.count(dump), states(dump))
		if dump.Pause != "" {
			say(out, "    %s", dump.Pause)
		}
		if dump.Lack != nil {
			say(out, "    lacks: %s%s", dump.Lack.Lacks, helps(dump.Lack.Helps))
		}
		for _, each := range append(slices.Clone(dump.Notes), dump.Silent, dump.Exposed) {
			if each != "" {
				say(out, "    %s", each)
			}
		}
		for _, names := range dump.Deadlocks {
			say(out, "  deadlock of %s", quoted(names, 8))
			tellThreads(out, dump, names)
		}
		tellLocks(out, dump)
		if hot := stack.Hottest(withoutIdle(dump.Hot), maxFrames); len(hot) > 0 {
			say(out, "  hottest frames%s", map[bool]string{true: "", false: ", of the threads that computed"}[dump.HotIsSampled])
			for _, frame := range hot {
				if frame.Share < minShare {
					break
				}
				say(out, "    %3.0f%%  %s", 100*frame.Share, frame.Name)
			}
		}
		tellGroups(out, dump)
	}
	if rest := len(l.target.Processes) - len(l.dumps); rest > 0 && l.settings.pid == 0 {
		say(out, "\n%s not looked into; STACKS_PID chooses one", counted(rest, "other process of the container was", "other processes of the container were"))
	}
}

// unit is what the stacks are of.
func (l *look) unit() string {
	for _, dump := range l.dumps {
		if len(dump.Threads) > 0 && dump.Threads[0].ID == 0 {
			return "goroutine"
		}
	}
	return "thread"
}

func (l *look) count(dump *stack.Dump) string {
	if len(dump.Threads) == 0 && dump.HotIsSampled {
		return "its main thread"
	}
	return counted(len(dump.Threads), l.unit())
}

func tellThreads(out io.Writer, dump *stack.Dump, names []string) {
	for _, thread := range dump.Threads {
		if !slices.Contains(names, thread.Name) {
			continue
		}
		say(out, "    %q waits for a %s, and holds %s", thread.Name, thread.WaitsForKind, counted(len(thread.Holds), "lock"))
		for _, frame := range thread.Frames[:min(3, len(thread.Frames))] {
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
		if lock.Holder != "" {
			holder = fmt.Sprintf("%q (%s)", lock.Holder, placeOf(lock.HolderState, lock.HolderFrame))
		}
		say(out, "    %s for a %s, held by %s: %s", counted(len(lock.Waiters), "thread"), lock.Kind, holder, quoted(lock.Waiters, 4))
	}
}

// tellGroups tells where threads are together, or, where there are few, where each is.
func tellGroups(out io.Writer, dump *stack.Dump) {
	told := 0
	groups := stack.Groups(dump.Threads)
	// Those of the application before those of its runtime.
	slices.SortStableFunc(groups, func(a, b stack.Group) int { return rankOf(a) - rankOf(b) })
	for _, group := range groups {
		if len(group.Frames) == 0 {
			continue
		}
		if told == 0 {
			say(out, "  where the threads are")
		}
		if told++; told > maxGroups {
			say(out, "    and more: see threads.txt")
			break
		}
		waited := ""
		if group.Minutes > 0 {
			waited = fmt.Sprintf(", up to %d minutes", group.Minutes)
		}
		say(out, "    %s, %s%s: %s", quoted(group.Names, 3), group.State, waited, firstOwn(group.Frames))
	}
}

func rankOf(group stack.Group) int {
	if isRuntime(firstOwn(group.Frames)) {
		return 1
	}
	return 0
}

// files are those for the log: all threads in one text, and what a runtime gave beside it.
func (l *look) files() []stack.File {
	var text strings.Builder
	var others []stack.File
	for _, dump := range l.dumps {
		if dump.Text != "" {
			fmt.Fprintf(&text, "Process %d, %s (%s)\n\n%s\n", dump.Process.PID, report.Line(dump.Process.Name, 40), dump.Runtime, dump.Text)
		}
		for _, file := range dump.Files {
			if len(l.dumps) > 1 {
				file.Name = strconv.Itoa(dump.Process.PID) + "-" + file.Name
			}
			others = append(others, file)
		}
	}
	if text.Len() == 0 {
		return others
	}
	return append([]stack.File{{Name: "threads.txt", Content: []byte(text.String())}}, others...)
}

// say writes one line; its words may come from the target. Spaces at its beginning stay.
func say(out io.Writer, format string, words ...any) {
	text := fmt.Sprintf(format, words...)
	if strings.HasPrefix(text, "\n") {
		fmt.Fprintln(out)
		text = text[1:]
	}
	rest := strings.TrimLeft(text, " ")
	fmt.Fprintln(out, text[:len(text)-len(rest)]+report.Line(rest, 240))
}

func states(dump *stack.Dump) string {
	if len(dump.Threads) == 0 {
		return ""
	}
	return " (" + stack.States(dump.Threads) + ")"
}

func withoutIdle(samples []stack.Sample) []stack.Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(sample stack.Sample) bool { return len(sample.Frames) == 0 || sample.Frames[0] == "(idle)" })
}

func helps(helps []string) string {
	words := map[string]string{report.Identity: "run as the target's user", report.General: "profile general", report.Sysadmin: "profile sysadmin"}
	var told []string
	for _, help := range helps {
		told = append(told, words[help])
	}
	if len(told) == 0 {
		return ""
	}
	return "; helps: " + strings.Join(told, ", ")
}

func placeOf(state, frame string) string {
	if frame == "" {
		return state
	}
	return state + in(frame)
}

func in(frame string) string {
	if frame == "" {
		return ""
	}
	return " in " + frame
}

func firstOf(frames []string) string {
	if len(frames) == 0 {
		return ""
	}
	return frames[0]
}

// firstOwn is the innermost frame that is no part of a runtime, else the innermost.
func firstOwn(frames []string) string {
	for _, frame := range frames {
		if !isRuntime(frame) {
			return frame
		}
	}
	return firstOf(frames)
}

func isRuntime(frame string) bool {
	return slices.ContainsFunc([]string{"java.", "jdk.", "sun.", "runtime.", "sync.", "time.", "internal/", "syscall.", "net.", "net/", "["}, func(prefix string) bool { return strings.HasPrefix(frame, prefix) })
}

func quoted(names []string, most int) string {
	shown := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		shown = append(shown, strconv.Quote(name))
	}
	text := strings.Join(shown, ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

// counted is "1 thread" or "3 threads"; many is for words with another plural.
func counted(count int, one string, many ...string) string {
	switch {
	case count == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", count, many[0])
	case strings.HasSuffix(one, "ss"):
		return fmt.Sprintf("%d %ses", count, one)
	}
	return fmt.Sprintf("%d %ss", count, one)
}

func sorted(groups map[string][]stack.Thread) []string {
	places := make([]string, 0, len(groups))
	for place := range groups {
		places = append(places, place)
	}
	sort.Slice(places, func(a, b int) bool {
		if len(groups[places[a]]) != len(groups[places[b]]) {
			return len(groups[places[a]]) > len(groups[places[b]])
		}
		return places[a] < places[b]
	})
	return places
}
