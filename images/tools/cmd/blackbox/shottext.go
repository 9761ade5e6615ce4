package main

import (
	"bytes"
	"fmt"
	"strings"

	"kdebug/tools/internal/frame"
	"kdebug/tools/internal/report"
)

// maxShotText bounds tripwire.txt.
const maxShotText = 256 << 10

// fileName is the name of a file of the shot: "tripwire.txt", then "tripwire-2.txt".
func (s *shot) fileName(name, ending string) string {
	if s.number > 1 {
		name = fmt.Sprintf("%s-%d", name, s.number)
	}
	return name + ending
}

// writeShot writes a look at the living target at once, in one go: should the whole pod end, it is in the log.
func (l *look) writeShot(s *shot) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "\n%s\n", report.Line(s.verdict(), 300))
	for _, line := range s.short() {
		say(&out, "%s", line)
	}
	text := s.text()
	if err := frame.Write(&out, s.fileName("tripwire", ".txt"), []byte(text[:min(len(text), maxShotText)])); err != nil {
		return err
	}
	if stacks := s.folded(); stacks != "" {
		if err := frame.Write(&out, s.fileName("stacks", ".folded"), []byte(stacks)); err != nil {
			return err
		}
	}
	say(&out, "%s", l.goesOn(s))
	_, err := out.WriteTo(l.out)
	return err
}

// goesOn says what the watch does next.
func (l *look) goesOn(s *shot) string {
	until := l.began.Add(l.settings.length).UTC().Format("15:04:05 UTC")
	if left := l.settings.shots - s.number; left > 0 {
		return fmt.Sprintf("The watch goes on until %s: %s left, and the end of the process.", until, report.Counted(left, "look"))
	}
	return fmt.Sprintf("The watch for its end goes on until %s.", until)
}

// short are the lines that people read in the answer.
func (s *shot) short() []string {
	lines := append(s.stackLines(s.death.Thread, shownFrames), s.memoryLines()...)
	open := fmt.Sprintf("%s, of them %s", report.Counted(s.files.count, "file"), report.Counted(s.files.sockets, "socket"))
	if s.files.unreadable {
		open = "files not readable"
	}
	return append(lines, fmt.Sprintf("open: %s; %s", open, report.Counted(s.threadCount(), "thread")), s.heldWords())
}

// threadCount is how many there are: those that were read are bounded.
func (s *shot) threadCount() int { return max(int(s.numbers["Threads"]), len(s.threads)) }

func (s *shot) heldWords() string {
	held, all := len(s.death.Held), s.threadCount()
	switch {
	case s.self.settings.summary:
		return "no thread was stopped"
	case held == 0:
		return "no stack was readable"
	case held < all:
		return fmt.Sprintf("%d of %d threads were held for %s", held, all, milliseconds(s.held))
	}
	return "all threads were held for " + milliseconds(s.held)
}

// text is tripwire.txt.
func (s *shot) text() string {
	var text strings.Builder
	lines := func(title string, all ...string) {
		if title != "" {
			fmt.Fprintf(&text, "\n%s\n", title)
		}
		for _, each := range all {
			say(&text, "%s", each)
		}
	}
	lines("", s.verdict(), fmt.Sprintf("At %s.", s.death.At.UTC().Format("2006-01-02 15:04:05.000 UTC")))
	lines("Memory", append(s.memoryLines(), s.mapLines()...)...)
	lines("CPU of the container", s.cpuLine())
	lines("The last minute", s.table...)
	lines("Stacks")
	for _, tid := range s.heldInOrder() {
		lines("", s.stackLines(tid, maxFrames)...)
	}
	lines("Threads")
	for _, each := range s.threads {
		lines("", fmt.Sprintf("%7d  %-16s %s  %-16s %s", each.id, each.name, each.state, each.call.Name(), each.top))
	}
	lines("Open files", s.files.lines...)
	if s.files.more > 0 {
		lines("", fmt.Sprintf("and %d more", s.files.more))
	}
	return text.String()
}

// cpuLine is what the container's cgroup counts since it began.
func (s *shot) cpuLine() string {
	if !s.cpu.Usage.Known {
		return "not readable"
	}
	words := fmt.Sprintf("%.1f s used since it began", float64(s.cpu.Usage.Value)/1e6)
	if s.cpu.Throttled.Known {
		words += fmt.Sprintf(", throttled in %d of %d periods, %.1f s in all", s.cpu.Throttled.Value, s.cpu.Periods.Value, float64(s.cpu.Stood.Value)/1e3)
	}
	return words
}
