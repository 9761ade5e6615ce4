package diagnose

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

// maxTitles bounds the findings that the verdict names.
const maxTitles = 220

// report writes the words for people and the report; verdict replaces the one that the parts make, unless it is "". It gives the exit code.
func (l *Look) report(out io.Writer, parts []*rules.Part, verdict string, code int) int {
	result := &report.Report{
		Tool: report.Tool{Name: "autodiagnose", Version: Version}, Self: l.selfOf(), Target: l.targetOf(), Message: l.Settings.Message,
		SampleSeconds: l.Settings.Sample.Seconds(), Series: l.series, Facts: l.facts, FactsCut: l.cuts, Verdict: verdict,
	}
	for _, part := range parts {
		for _, each := range part.Findings {
			each.Text = plain(each.Text)
			result.Findings = append(result.Findings, each)
		}
		section := part.Section
		section.Text, section.Lacks = plain(section.Text), plain(section.Lacks)
		result.Sections = append(result.Sections, section)
	}
	rules.Sort(result.Findings)
	if verdict == "" {
		for _, part := range parts {
			result.Doubt = cmp.Or(result.Doubt, part.Doubt)
		}
		result.Verdict = verdictOf(result)
	}
	result.Cost = costSince(l.Began)
	l.tellPeople(out, parts, result)
	if err := result.Write(out, l.terminationLog()); err != nil {
		return 1
	}
	return code
}

// terminationLog is "" where there is none, as outside a container: it is not made.
func (l *Look) terminationLog() string {
	if _, err := os.Stat(l.Settings.TerminationLog); err != nil && l.Settings.TerminationLog == defaultTerminationLog {
		return ""
	}
	return l.Settings.TerminationLog
}

func (l *Look) selfOf() *report.Self {
	return &report.Self{UID: l.Self.UID, GID: l.Self.GID, Capabilities: capabilities(l.Self.Effective)}
}

func (l *Look) targetOf() *report.Target {
	it := l.Target
	if it == nil {
		return &report.Target{}
	}
	about := &report.Target{
		Effective: true, PID: it.PID, UID: report.ID(it.UID), GID: report.ID(it.GID), Name: plain(it.Name),
		Capabilities: capabilities(it.Effective), Runtime: string(l.runtime),
	}
	if _, err := os.Stat(string(it.FS()) + "/sys/kernel/yama/ptrace_scope"); err == nil {
		about.PtraceScope = report.ID(it.Yama)
	}
	return about
}

// capabilities are never nil: none is something else than not known.
func capabilities(set uint64) []string { return append([]string{}, target.Capabilities(set)...) }

// verdictOf names the findings, the worst first; without one it says where nothing was found, and what was not seen. It never says that all is well:
// a look from outside does not see what a program waits for.
func verdictOf(r *report.Report) string {
	looked, blind := 0, 0
	for _, each := range r.Sections {
		switch each.State {
		case report.NotReadable:
			blind++
		default:
			looked++
		}
	}
	words := fmt.Sprintf("Nothing found in %s", report.Counted(looked, "section"))
	if r.Doubt != "" {
		words = fmt.Sprintf("%s; nothing found in %s", r.Doubt, report.Counted(looked, "section"))
	}
	if len(r.Findings) > 0 {
		titles := make([]string, 0, len(r.Findings))
		for _, each := range r.Findings {
			titles = append(titles, each.Text)
		}
		all := strings.Join(titles, "; ")
		if len(all) > maxTitles {
			all = all[:maxTitles-3] + "..."
		}
		words = report.Counted(len(r.Findings), "finding") + ": " + all
	}
	if blind > 0 {
		words += fmt.Sprintf(" (%d of %d sections not readable)", blind, len(r.Sections))
	}
	if len(r.Findings) == 0 {
		words += "; it does not see inside the program"
	}
	return words + "."
}

// tellPeople writes the report for a person who reads the log.
func (l *Look) tellPeople(out io.Writer, parts []*rules.Part, result *report.Report) {
	fmt.Fprintf(out, "kdebug autodiagnose, run %s, %s\n%s\n\n", runName(l.Settings.Run), l.Began.UTC().Format(time.RFC3339), plain(result.Verdict))
	for _, part := range parts {
		fmt.Fprintf(out, "%-13s %-11s %s\n", strings.ReplaceAll(part.Section.State, "-", " "), part.Section.Name, plain(part.Section.Text))
		for _, each := range part.Findings {
			fmt.Fprintf(out, "    ! %s\n      %s\n", plain(each.Text), each.Next)
		}
		for _, line := range part.Lines {
			fmt.Fprintf(out, "      %s\n", plain(line))
		}
	}
	cost := result.Cost
	fmt.Fprintf(out, "\nThis check took %d ms, %d ms of CPU and %.1f MiB of memory.\n", cost.Milliseconds, cost.CPUMilliseconds, float64(cost.MemoryBytes)/mib)
}

func runName(run string) string {
	foreign := func(char rune) bool {
		return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", char)
	}
	switch {
	case run == "":
		return "none"
	case strings.ContainsFunc(run, foreign):
		return "unnamed"
	}
	return run
}
