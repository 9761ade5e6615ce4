package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"kdebug/tools/internal/cpu"
	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/jvm"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	limits "kdebug/tools/internal/run"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

func (v view) report() *report.Report {
	profile, load := v.profilePart(), v.loadPart()
	findings := append(profile.Findings, load.Findings...)
	rules.Sort(findings)
	return &report.Report{
		Verdict: v.verdict(),
		Self:    selfOf(v.self),
		Target: &report.Target{
			Effective: true, PID: v.target.PID, UID: report.ID(v.target.UID), GID: report.ID(v.target.GID), Name: v.target.Name,
			Capabilities: target.Capabilities(v.target.Permitted), Runtime: string(v.target.Runtime),
		},
		Findings:      findings,
		Sections:      []report.Section{profile.Section, load.Section},
		SampleSeconds: v.load.Elapsed.Seconds(),
	}
}

// profilePart says where the time went.
func (v view) profilePart() *rules.Part {
	part := rules.NewPart("profile")
	stacks := v.stacks()
	total := flame.Total(stacks)
	var blind *cpu.Blind
	switch {
	case errors.Is(v.err, cpu.ErrNative):
		part.Section.State, part.Section.Text, part.Section.Lacks = report.NotReadable, "no profile", "a profiler for native programs"
		return part
	case errors.As(v.err, &blind):
		part.Section.State, part.Section.Text, part.Section.Lacks, part.Section.Helps = report.NotReadable, blind.What, blind.Lacks, blind.Helps
		return part
	case v.err != nil:
		part.Section.State, part.Section.Text, part.Section.Lacks = report.NotReadable, "no profile", v.err.Error()
		return part
	case v.profile.Samples > 0 && total == 0:
		part.Section.Text = samples(v.profile.Samples) + " too few to tell a share"
		return part
	case total == 0:
		part.Section.Text = "no function used CPU time"
		return part
	}
	part.Section.Text = fmt.Sprintf("%s in %d functions; %s", flame.Amount(total, v.profile.Unit), len(flame.Top(stacks, math.MaxInt)), v.profile.How)
	if v.maySay() {
		v.findHot(part, stacks, total)
	}
	return part
}

func (v view) findHot(part *rules.Part, stacks []flame.Stack, total int64) {
	top := flame.Top(stacks, tops)
	if where, found := flame.Where(stacks); found && where.Name != top[0].Name && cpu.IsFunction(where.Name) {
		share := percent(where.Total, total)
		part.Find("hot_path", share, "%.0f %% of the CPU time goes into %s and what it calls", share, report.Name(where.Name, 160))
	}
	for _, function := range top {
		if !cpu.IsFunction(function.Name) {
			continue
		}
		share := percent(function.Self, total)
		part.Find("hot_function", share, "%s itself takes %.0f %% of the CPU time", report.Name(function.Name, 160), share)
	}
}

// loadPart says how much CPU there was, and what the collector took of it.
func (v view) loadPart() *rules.Part {
	part := rules.NewPart("cpu")
	if v.load.IsShort() {
		part.Section.Text = "it " + v.used()
		return part
	}
	part.Section.Text = fmt.Sprintf("%.2f of a core, %d threads, %d of them used CPU time%s", v.load.Used, v.target.Process.Threads, len(v.load.Threads), v.starved())
	if share := v.collectorShare(); share > 0 {
		part.Find("gc_heavy", 100*share, "%s", v.collecting())
	}
	if waiting := v.program().Waiting(); waiting.Ready >= starving {
		thread.FindStarved(part, fmt.Sprintf("%sits thread %s", v.goesInto(), report.Name(waiting.Name, 40)), waiting.Ready)
		if last := len(part.Findings) - 1; last >= 0 && part.Findings[last].Code == "waits_for_cpu" && 100*waiting.Busy() > rules.Threshold("busy_thread") && !v.isRuntimes(waiting) {
			part.Findings[last].Next = v.findFirst()
		}
	}
	v.findBusy(part)
	return part
}

// isRuntimes is whether a thread is one of a JVM's own.
func (v view) isRuntimes(thread cpu.Usage) bool {
	return v.target.Runtime == target.JVM && jvm.Kind(thread.Name) != ""
}

// findFirst is the advice for a thread that computes all the time and has no whole CPU: a loop without an end uses up any.
func (v view) findFirst() string {
	how := "stacks may show where it is"
	switch {
	case flame.Total(v.stacks()) > 0:
		how = "cpu.png shows it"
	case errors.Is(v.err, cpu.ErrNative):
		how = "look at the command or query that it runs"
	}
	return "Find what this thread computes: " + how + ". Where that work is wanted, make it cheaper or spread it, or give it a whole CPU: one thread cannot use more."
}

// goesInto names the function that most of the CPU time goes into, for who reads one line alone; "" where no share may be told.
func (v view) goesInto() string {
	stacks := v.stacks()
	where, found := flame.Where(stacks)
	if !found || !cpu.IsFunction(where.Name) || !v.maySay() {
		return ""
	}
	return fmt.Sprintf("%.0f %% of its CPU time goes into %s%s; ", percent(where.Total, flame.Total(stacks)), report.Name(where.Name, 100), v.calledFrom(where.Name))
}

// findBusy looks at the busiest thread of the program; what a JVM's own threads do is not its work.
func (v view) findBusy(part *rules.Part) {
	for _, busiest := range v.load.Threads {
		if v.isRuntimes(busiest) {
			continue
		}
		next := "More CPU for the pod does not help: make what this thread does cheaper, or spread it."
		if flame.Total(v.stacks()) > 0 {
			next = strings.TrimSuffix(next, ".") + "; cpu.png shows what it does."
		}
		words := fmt.Sprintf("uses %.0f %% of a CPU, and can use hardly more", 100*busiest.Running)
		if busiest.Ready >= starving {
			next = v.findFirst()
			words = fmt.Sprintf("computes all the time, but has only %.0f %% of a CPU", 100*busiest.Running)
		}
		part.Find("busy_thread", 100*busiest.Busy(), "%sone thread, %s, %s", v.goesInto(), report.Name(busiest.Name, 40), words)
		if last := len(part.Findings) - 1; last >= 0 && part.Findings[last].Code == "busy_thread" {
			part.Findings[last].Next = next
		}
		return
	}
}

// collectorShare is the share of the time that the program waits for its collector, between 0 and 1; 0 where that is not known.
func (v view) collectorShare() float64 {
	switch {
	case v.load.IsShort():
		return 0
	case v.target.Runtime == target.JVM:
		share, _ := v.load.Collecting()
		return share
	case v.profile == nil || v.target.Runtime == target.Go && (v.profile.Samples < stack.MinSamples || !v.isTold()):
		return 0
	}
	return v.profile.Collecting
}

// isCollecting is whether the collector is the cause to name first.
func (v view) isCollecting() bool {
	_, beyond := rules.Find("gc_heavy", 100*v.collectorShare(), "")
	return beyond
}

// collecting says it in words.
func (v view) collecting() string {
	share := 100 * v.collectorShare()
	words := fmt.Sprintf("the garbage collector works %.0f %% of the time", share)
	if v.target.Runtime == target.Go {
		words = fmt.Sprintf("the garbage collector takes %.0f %% of the CPU time", share)
	}
	if _, cores := v.load.Collecting(); v.target.Runtime == target.JVM && v.load.Used > 0 {
		words += fmt.Sprintf(" and takes %.0f %% of the CPU time", 100*cores/v.load.Used)
	}
	if v.heap != "" {
		words += "; " + v.heap
	}
	return words
}

func noTarget(self target.Self, err error) *report.Report {
	return &report.Report{
		Verdict:  limits.NoTarget(err),
		Self:     selfOf(self),
		Target:   &report.Target{},
		Sections: []report.Section{{Name: "profile", State: report.NotReadable, Text: "no process", Lacks: "a target container", Helps: target.HelpsFor(err)}},
	}
}

func selfOf(self target.Self) *report.Self {
	return &report.Self{UID: self.UID, GID: self.GID, Capabilities: target.Capabilities(self.Effective)}
}
