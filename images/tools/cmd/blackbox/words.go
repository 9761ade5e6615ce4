package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"kdebug/tools/internal/report"
	limits "kdebug/tools/internal/run"
)

const maxLine = 240

// say writes one line; its words may come from the target. Spaces at its beginning stay.
func say(out io.Writer, format string, words ...any) {
	text := fmt.Sprintf(format, words...)
	rest := strings.TrimLeft(text, " ")
	fmt.Fprintln(out, text[:len(text)-len(rest)]+report.Line(rest, maxLine))
}

// process is "process 7 (app)".
func (l *look) process() string { return l.processOf(l.target.PID) }

func (l *look) processOf(pid int) string {
	name := ""
	for _, each := range l.target.Processes {
		if each.PID == pid {
			name = each.Name
		}
	}
	if name == "" {
		return fmt.Sprintf("process %d", pid)
	}
	return fmt.Sprintf("process %d (%s)", pid, report.Name(name, 40))
}

func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func spanOf(length time.Duration) string {
	switch {
	case length >= 2*time.Minute:
		return report.Counted(int(length/time.Minute), "minute")
	case length >= 10*time.Second:
		return fmt.Sprintf("%.0f s", length.Seconds())
	}
	return fmt.Sprintf("%.1f s", length.Seconds())
}

func size(bytes int64) string {
	switch {
	case bytes >= 10<<20:
		return fmt.Sprintf("%.0f MiB", float64(bytes)/(1<<20))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}

// end writes the verdict and the report where there is no death to tell.
func (l *look) end(verdict string, code int) int {
	l.result.Cost = report.CostSince(l.began)
	l.addShots()
	return giveUp(l.out, l.result, capital(verdict), code)
}

// giveUp reports a verdict alone.
func giveUp(out io.Writer, result *report.Report, verdict string, code int) int {
	result.Verdict = report.Line(verdict, 300)
	say(out, "%s", limits.Heading("blackbox", time.Now()))
	fmt.Fprintln(out, result.Verdict)
	if err := result.Write(out, terminationLog); err != nil {
		return 1
	}
	return code
}
