package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"kdebug/tools/internal/cpu"
	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

// view is all that was seen; each of its answers is made of it alone.
type view struct {
	target  *target.Target
	self    target.Self
	length  time.Duration
	profile *cpu.Profile
	err     error
	load    cpu.Load
}

type file struct {
	name    string
	content []byte
}

const (
	// tops is how many functions are listed, and busyThreads how many threads.
	tops, busyThreads = 10, 5
	// idle is less CPU than a profile says anything about, in cores.
	idle = 0.02
	// starving is less waiting for a CPU, in cores, than is a finding.
	starving = 0.05
	// maxStacks bounds each file, in bytes of folded stacks.
	maxStacks = 3 << 20
)

// stacks are those of the profile, if there are any.
func (v view) stacks() []flame.Stack {
	if v.profile == nil {
		return nil
	}
	return flame.Bound(v.profile.Stacks, maxStacks)
}

func (v view) process() string {
	name := report.Line(v.target.Name, 40)
	if v.target.Runtime == target.Unknown || v.target.Runtime == target.Native {
		return fmt.Sprintf("process %d (%s)", v.target.PID, name)
	}
	return fmt.Sprintf("%s process %d (%s)", runtimeName(v.target), v.target.PID, name)
}

func runtimeName(t *target.Target) string {
	names := map[target.Runtime]string{target.JVM: "Java", target.Python: "Python", target.Node: "Node", target.Go: "Go"}
	return strings.TrimSpace(names[t.Runtime] + " " + report.Line(t.Version, 20))
}

// words is what people read first.
func (v view) words() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\nThe %s used %.2f of a core in %s%s.\n", v.verdict(), v.process(), v.load.Used, seconds(v.length), v.starved())
	if v.profile != nil {
		fmt.Fprintf(&text, "How: %s.\n", v.profile.How)
	}
	stacks := v.stacks()
	if total := flame.Total(stacks); total > 0 {
		fmt.Fprintf(&text, "\nWhere its CPU time went, of %s (cpu.png is the flame graph; cpu.svg in a browser says each name whole; cpu.speedscope.json opens in speedscope.app):\n", flame.Amount(total, v.profile.Unit))
		text.WriteString("    self    total  function\n")
		for _, function := range flame.Top(stacks, tops) {
			fmt.Fprintf(&text, "  %5.1f%%   %5.1f%%  %s\n", percent(function.Self, total), percent(function.Total, total), function.Name)
		}
	}
	if threads := v.load.Threads; len(threads) > 0 {
		text.WriteString("\nThe busiest threads:\n    cores  thread\n")
		for _, thread := range threads[:min(len(threads), busyThreads)] {
			fmt.Fprintf(&text, "  %7.2f  %s\n", thread.Cores, report.Line(thread.Name, 40))
		}
	}
	text.WriteString("\n")
	return text.String()
}

// starved says how much more it would have used.
func (v view) starved() string {
	if v.load.Waiting < starving {
		return ""
	}
	return fmt.Sprintf(", and would have used %.2f more, but got no CPU (throttled by its limit, or the node is busy)", v.load.Waiting)
}

// verdict is one sentence.
func (v view) verdict() string {
	stacks := v.stacks()
	total := flame.Total(stacks)
	var blind *cpu.Blind
	switch {
	case errors.As(v.err, &blind):
		return fmt.Sprintf("No profile of the %s: it lacks %s.", v.process(), report.Line(blind.Lacks, 160))
	case v.err != nil:
		return fmt.Sprintf("No profile of the %s: %s.", v.process(), report.Line(v.err.Error(), 160))
	case v.load.Used < idle && v.load.Waiting < starving:
		return fmt.Sprintf("The %s is almost idle: it used %.2f of a core.", v.process(), v.load.Used)
	case total == 0:
		return fmt.Sprintf("The %s used %.2f of a core, but in no function that its runtime shows.", v.process(), v.load.Used)
	}
	if where, found := flame.Where(stacks); found {
		return fmt.Sprintf("%.0f %% of the CPU time goes into %s; the %s uses %.2f of a core.",
			percent(where.Total, total), report.Line(where.Name, 120), v.process(), v.load.Used)
	}
	top := flame.Top(stacks, 1)[0]
	return fmt.Sprintf("No function takes half of the CPU time, the most %s with %.0f %%; the %s uses %.2f of a core.",
		report.Line(top.Name, 120), percent(top.Self, total), v.process(), v.load.Used)
}

func (v view) files() []file {
	stacks := v.stacks()
	total := flame.Total(stacks)
	if total == 0 {
		return nil
	}
	title := "CPU of " + v.process()
	subtitle := fmt.Sprintf("%s in %s, %.2f of a core. %s.", flame.Amount(total, v.profile.Unit), seconds(v.length), v.load.Used, v.profile.How)
	files := []file{}
	// Slack shows no SVG. Without a picture there is still the graph to open.
	if picture, err := flame.PNG(title, subtitle, stacks, v.profile.Unit); err == nil {
		files = append(files, file{"cpu.png", picture})
	}
	return append(files, []file{
		{"cpu.svg", flame.SVG(title, subtitle, stacks, v.profile.Unit)},
		{"cpu.speedscope.json", flame.Speedscope(title, stacks, v.profile.Unit)},
		{"cpu.folded", flame.Folded(stacks)},
	}...)
}

func (v view) report() *report.Report {
	profile, load := v.profilePart(), v.loadPart()
	findings := append(profile.Findings, load.Findings...)
	rules.Sort(findings)
	return &report.Report{
		Verdict: v.verdict(),
		Self:    selfOf(v.self),
		Target: &report.Target{
			Effective: true, PID: v.target.PID, UID: report.ID(v.target.UID), GID: report.ID(v.target.GID), Name: v.target.Name,
			Capabilities: target.Capabilities(v.target.Permitted),
		},
		Findings:      findings,
		Sections:      []report.Section{profile.Section, load.Section},
		SampleSeconds: v.length.Seconds(),
	}
}

// profilePart says where the time went.
func (v view) profilePart() *rules.Part {
	part := rules.NewPart("profile")
	stacks := v.stacks()
	total := flame.Total(stacks)
	var blind *cpu.Blind
	switch {
	case errors.As(v.err, &blind):
		part.Section.State, part.Section.Text, part.Section.Lacks, part.Section.Helps = report.NotReadable, blind.What, blind.Lacks, blind.Helps
		return part
	case v.err != nil:
		part.Section.State, part.Section.Text, part.Section.Lacks = report.NotReadable, "no profile", v.err.Error()
		return part
	case total == 0:
		part.Section.Text = "no function used CPU time"
		return part
	}
	part.Section.Text = fmt.Sprintf("%s in %d functions; %s", flame.Amount(total, v.profile.Unit), len(flame.Top(stacks, math.MaxInt)), v.profile.How)
	if v.load.Used < idle && v.load.Waiting < starving {
		return part
	}
	top := flame.Top(stacks, tops)
	if where, found := flame.Where(stacks); found && where.Name != top[0].Name {
		share := percent(where.Total, total)
		part.Find("hot_path", share, "%.0f %% of the CPU time goes into %s and what it calls", share, report.Line(where.Name, 160))
	}
	for _, function := range top {
		share := percent(function.Self, total)
		part.Find("hot_function", share, "%s itself takes %.0f %% of the CPU time", report.Line(function.Name, 160), share)
	}
	return part
}

// loadPart says how much CPU there was.
func (v view) loadPart() *rules.Part {
	part := rules.NewPart("cpu")
	part.Section.Text = fmt.Sprintf("%.2f of a core, %d threads, %d of them used CPU time%s", v.load.Used, v.target.Process.Threads, len(v.load.Threads), v.starved())
	if v.load.Waiting >= starving {
		share := 100 * v.load.Waiting / (v.load.Used + v.load.Waiting)
		part.Find("waits_for_cpu", share, "it was ready to run and had no CPU for %.0f %% of that time", share)
	}
	if len(v.load.Threads) > 0 {
		busiest := v.load.Threads[0]
		part.Find("busy_thread", 100*busiest.Cores, "one thread, %s, uses %.0f %% of a CPU, and cannot use more", report.Line(busiest.Name, 40), 100*busiest.Cores)
	}
	for at := range part.Findings {
		if part.Findings[at].Code == "busy_thread" {
			part.Findings[at].Next = "More CPU for the pod does not help: make what this thread does cheaper, or spread it; cpu.png shows what it does."
		}
	}
	return part
}

func noTarget(self target.Self) *report.Report {
	return &report.Report{
		Verdict:  "No process to profile is visible.",
		Self:     selfOf(self),
		Target:   &report.Target{},
		Sections: []report.Section{{Name: "profile", State: report.NotReadable, Text: "no process", Lacks: "a target container", Helps: []string{report.ATarget}}},
	}
}

func selfOf(self target.Self) *report.Self {
	return &report.Self{UID: self.UID, GID: self.GID, Capabilities: target.Capabilities(self.Effective)}
}

func percent(part, whole int64) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

func seconds(length time.Duration) string { return fmt.Sprintf("%.0f s", length.Seconds()) }
