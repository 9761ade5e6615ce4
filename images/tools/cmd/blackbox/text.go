package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"kdebug/tools/internal/frame"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/unwind"
)

const (
	shownFrames  = 12
	shownThreads = 8
)

// write writes the words, the files, and the report, in one go where the log takes it.
func (l *look) write(s *scene) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "\n%s\n", report.Line(l.result.Verdict, 300))
	for _, line := range s.short() {
		say(&out, "%s", line)
	}
	// The verdict is out before anything else can fail.
	if _, err := out.WriteTo(l.out); err != nil {
		return err
	}
	if err := frame.Write(&out, "death.txt", []byte(s.text())); err != nil {
		return err
	}
	if stacks := s.folded(); stacks != "" {
		if err := frame.Write(&out, l.stacksFile(), []byte(stacks)); err != nil {
			return err
		}
	}
	if _, err := out.WriteTo(l.out); err != nil {
		return err
	}
	return l.result.Write(l.out, terminationLog)
}

// stacksFile is another where stacks.folded has those of the living target.
func (l *look) stacksFile() string {
	if len(l.shots) > 0 {
		return "death.folded"
	}
	return "stacks.folded"
}

// short are the lines that people read in the answer.
func (s *scene) short() []string {
	lines := s.stackLines(s.death.Thread, shownFrames)
	if call := s.callWords(); call != "" {
		lines = append(lines, call)
	}
	lines = append(lines, s.memoryLines()...)
	if !s.files.unreadable {
		lines = append(lines, fmt.Sprintf("open: %s, of them %s", report.Counted(s.files.count, "file"), report.Counted(s.files.sockets, "socket")))
	}
	if others := len(s.threads) - 1; others > 0 {
		lines = append(lines, fmt.Sprintf("%s: death.txt has a line of each", report.Counted(others, "other thread")))
	}
	return append(lines, fmt.Sprintf("held for %d ms while this was read%s", s.held.Milliseconds(), s.lateWords()))
}

func (s *scene) lateWords() string {
	if s.late {
		return "; not all was read in that time"
	}
	return ""
}

func (s *scene) stackLines(tid, most int) []string {
	frames := s.stacks[tid]
	if len(frames) == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("stack of thread %d (%s), the innermost first:", tid, report.Name(s.threadName(tid), 20))}
	lines = appendFrames(lines, frames, most)
	if frames := s.scripts.frames[tid]; len(frames) > 0 {
		lines = appendFrames(append(lines, "its functions of "+s.scripts.language+":"), frames, most)
	}
	return lines
}

func appendFrames(lines []string, frames []unwind.Frame, most int) []string {
	for _, frame := range frames[:min(len(frames), most)] {
		lines = append(lines, "    "+nameOf(frame))
	}
	if more := len(frames) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("    and %d more: the file has them", more))
	}
	return lines
}

func (s *scene) threadName(tid int) string {
	for _, each := range s.threads {
		if each.id == tid {
			return each.name
		}
	}
	return s.name
}

// callWords are about the system call in which the thread was.
func (s *scene) callWords() string {
	name := s.death.Call.Name()
	if name == "" {
		return ""
	}
	return fmt.Sprintf("its last system call: %s(%s)", name, argumentsOf(s.death.Call.Arguments))
}

func argumentsOf(arguments [6]uint64) string {
	const shown = 4
	words := make([]string, 0, shown)
	for _, each := range arguments[:shown] {
		words = append(words, fmt.Sprintf("%#x", each))
	}
	return strings.Join(words, ", ")
}

func (s *scene) memoryLines() []string {
	lines := []string{fmt.Sprintf("memory of the process: %s now (%s its own, %s of files), %s at most, %s of addresses",
		size(s.numbers["VmRSS"]), size(s.numbers["RssAnon"]), size(s.numbers["RssFile"]), size(s.numbers["VmHWM"]), size(s.numbers["VmSize"]))}
	if !s.memory.Used.Known {
		return lines
	}
	words := "memory of the container: " + size(s.memory.Used.Value)
	if s.memory.Limit.Known {
		words += " of " + size(s.memory.Limit.Value)
	}
	if s.memory.Peak.Known {
		words += ", " + size(s.memory.Peak.Value) + " at most"
	}
	if s.memory.Kills.Known {
		words += fmt.Sprintf("; kills for memory: %d, %d before", s.memory.Kills.Value, s.self.before.memory.Kills.Value)
	}
	return append(lines, words)
}

// text is death.txt.
func (s *scene) text() string {
	var text strings.Builder
	line := func(format string, words ...any) { say(&text, format, words...) }
	part := func(title string) { fmt.Fprintf(&text, "\n%s\n", title) }
	line("%s", s.self.result.Verdict)
	line("At %s.", s.death.At.UTC().Format("2006-01-02 15:04:05.000 UTC"))
	part("The thread that ended the process")
	s.writeCulprit(line)
	for _, each := range s.stackLines(s.death.Thread, maxFrames) {
		line("%s", each)
	}
	part("Memory")
	for _, each := range append(s.memoryLines(), s.mapLines()...) {
		line("%s", each)
	}
	part("Threads")
	for _, each := range s.threads {
		line("%7d  %-16s %s  %-16s %s", each.id, each.name, each.state, each.call.Name(), each.top)
	}
	part("Open files")
	for _, each := range s.files.lines {
		line("%s", each)
	}
	if s.files.more > 0 {
		line("and %d more", s.files.more)
	}
	return text.String()
}

func (s *scene) writeCulprit(line func(string, ...any)) {
	line("thread %d (%s)", s.death.Thread, report.Name(s.name, 20))
	if s.death.HasInfo {
		line("%s, code %d, %s", signalName(s.death.Signal), s.death.Info.Code, s.cause())
	}
	line("instruction %#x, stack %#x", s.pc(), s.sp())
	if len(s.code) > 0 {
		line("code there: % x", s.code)
	}
	if call := s.callWords(); call != "" {
		line("%s", call)
	}
}

// mapLines sums the memory map by what is mapped, the largest first.
func (s *scene) mapLines() []string {
	type sum struct {
		name  string
		bytes int64
		count int
	}
	sums := map[string]*sum{}
	for _, each := range s.maps {
		name := kindOf(each)
		if sums[name] == nil {
			sums[name] = &sum{name: name}
		}
		sums[name].bytes += int64(each.End - each.Begin)
		sums[name].count++
	}
	var all []*sum
	for _, each := range sums {
		all = append(all, each)
	}
	slices.SortFunc(all, func(a, b *sum) int { return int(b.bytes>>10 - a.bytes>>10) })
	var lines []string
	for _, each := range all[:min(len(all), 15)] {
		lines = append(lines, fmt.Sprintf("  %10s in %s: %s", size(each.bytes), report.Counted(each.count, "piece"), each.name))
	}
	return lines
}

func kindOf(each unwind.Mapping) string {
	switch {
	case each.Path == "" && strings.HasPrefix(each.May, "---"):
		return "kept free"
	case each.Path == "":
		return "memory of no file"
	}
	return each.Path
}

// folded is stacks.folded: a line for each thread, the outermost frame first.
func (s *scene) folded() string {
	var text strings.Builder
	for _, tid := range s.heldInOrder() {
		frames := s.stacks[tid]
		if script := s.scripts.frames[tid]; len(script) > 0 {
			// What the interpreter does for them is the same everywhere.
			frames = script
		}
		if len(frames) == 0 {
			continue
		}
		parts := []string{strings.ReplaceAll(report.Line(s.threadName(tid), 20), ";", ":")}
		for _, frame := range slices.Backward(frames) {
			parts = append(parts, folded(frame))
		}
		fmt.Fprintf(&text, "%s 1\n", strings.Join(parts, ";"))
	}
	return text.String()
}
