package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kdebug/tools/internal/cpu"
	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/jvm"
	"kdebug/tools/internal/node"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

// view is all that was seen; each of its answers is made of it alone.
type view struct {
	target  *target.Target
	self    target.Self
	profile *cpu.Profile
	err     error
	load    cpu.Load
	// heap says how full the heap of a JVM is, as "old generation 99 % of 30 MiB"; "" where that is not known.
	heap string
	// waits says who waits for whom, as "8 connections to 10.1.2.3:5432 have waited 12 s for an answer"; "" where nobody does, as far as is known.
	waits string
}

type file struct {
	name    string
	content []byte
}

const (
	// tops is how many functions are listed, and busyThreads how many threads.
	tops, busyThreads = 10, 5
	// idle is less CPU than anything is said about, in cores.
	idle = 0.02
	// starving is less waiting of a thread for a CPU, of the time, than is told of.
	starving = 0.3
	// maxStacks bounds each file, in bytes of folded stacks.
	maxStacks = 3 << 20
)

// stacks are those of the profile, where it has enough samples for a share.
func (v view) stacks() []flame.Stack {
	if v.profile == nil || v.load.IsShort() || v.profile.Samples < stack.MinSamples && !v.isCollecting() {
		return nil
	}
	return flame.Bound(v.profile.Stacks, maxStacks)
}

// isTold is whether there was enough CPU to say where it went.
func (v view) isTold() bool { return !v.load.IsShort() && v.program().Busy() >= stack.MinCores }

// maySay is whether there were samples and CPU enough to name a function: to make one cheaper pays little where the collector takes the time.
func (v view) maySay() bool {
	return v.isTold() && v.profile.Samples >= stack.MinSamples && !v.isCollecting()
}

// program is the load without the compiler of a JVM: that it waits for a CPU is no trouble of the program's.
func (v view) program() cpu.Load {
	load := v.load
	load.Threads = slices.DeleteFunc(slices.Clone(load.Threads), func(each cpu.Usage) bool {
		return v.target.Runtime == target.JVM && jvm.Kind(each.Name) == jvm.Compiler
	})
	return load
}

func (v view) process() string {
	name := report.Line(v.target.Name, 40)
	if v.target.Runtime == target.Unknown || v.target.Runtime == target.Native {
		// A server that says in its title what it does, as PostgreSQL's.
		if title := strings.Join(v.target.Command, " "); strings.HasPrefix(title, name+": ") {
			name = report.Line(title, 60)
		}
		return fmt.Sprintf("process %d (%s)", v.target.PID, report.Name(name, 60))
	}
	return fmt.Sprintf("%s process %d (%s)", runtimeName(v.target), v.target.PID, report.Name(name, 40))
}

func runtimeName(t *target.Target) string {
	return strings.TrimSpace(t.Runtime.Language() + " " + report.Line(t.Version, 20))
}

// words is what people read first.
func (v view) words() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\nThe %s %s%s.\n", v.verdict(), v.process(), v.used(), v.starved())
	if v.profile != nil && v.err == nil {
		fmt.Fprintf(&text, "How: %s.\n", v.profile.How)
	}
	if v.heap != "" {
		fmt.Fprintf(&text, "Its heap: %s.\n", v.heap)
	}
	stacks := v.stacks()
	if total := flame.Total(stacks); total > 0 {
		fmt.Fprintf(&text, "\nWhere its CPU time went, of %s (cpu.png is the flame graph; cpu.svg in a browser says each name whole; cpu.speedscope.json opens in speedscope.app):\n", flame.Amount(total, v.profile.Unit))
		text.WriteString("    self    total  function\n")
		for _, function := range flame.Top(stacks, tops) {
			fmt.Fprintf(&text, "  %5.1f%%   %5.1f%%  %s\n", percent(function.Self, total), percent(function.Total, total), function.Name)
		}
	}
	if threads := v.load.Threads; len(threads) > 0 && !v.load.IsShort() {
		text.WriteString("\nThe busiest threads:\n    cores  without CPU  thread\n")
		for _, thread := range threads[:min(len(threads), busyThreads)] {
			fmt.Fprintf(&text, "  %7.2f      %6.0f %%  %s\n", thread.Running, 100*thread.Ready, report.Line(thread.Name, 40))
		}
	}
	text.WriteString("\n")
	return text.String()
}

func (v view) used() string {
	if v.load.IsShort() {
		return fmt.Sprintf("was measured for %.1f s, too short to say how much CPU it used", v.load.Elapsed.Seconds())
	}
	words := fmt.Sprintf("used %.2f of a core in %s", v.load.Used, seconds(v.load.Elapsed))
	const told = 0.01
	if v.load.Beside >= told {
		words += fmt.Sprintf(" (%s of its container %.2f)", report.Counted(v.load.Others, "other process"), v.load.Beside)
	}
	return words
}

// starved says for how long a thread was ready to run and had no CPU.
func (v view) starved() string {
	waiting := v.program().Waiting()
	if waiting.Ready < starving || v.load.IsShort() {
		return ""
	}
	return fmt.Sprintf("; its thread %s was ready to run and had no CPU for %.0f %% of the time (throttled by its limit, or the node is busy)", report.Name(waiting.Name, 40), 100*waiting.Ready)
}

// verdict is one or two sentences. Of a program that hardly computes what it waits for comes first, where that is known.
func (v view) verdict() string {
	words := v.ofCPU()
	if v.waits == "" || v.isTold() || v.isCollecting() {
		return words
	}
	return v.waits + "; " + strings.ToLower(words[:1]) + words[1:]
}

func (v view) ofCPU() string {
	var blind *cpu.Blind
	failed := ""
	switch {
	case errors.Is(v.err, cpu.ErrNative):
		failed = fmt.Sprintf("Could not profile %s: %s.", v.process(), v.err)
	case errors.As(v.err, &blind):
		failed = fmt.Sprintf("Could not profile the %s: it lacks %s.", v.process(), report.Line(blind.Lacks, 160))
	case v.err != nil:
		failed = fmt.Sprintf("Could not profile the %s: %s.", v.process(), report.Line(v.err.Error(), 160))
	}
	switch {
	case v.isCollecting():
		words := v.collecting()
		return strings.TrimSpace(fmt.Sprintf("%s%s; the %s %s. %s", strings.ToUpper(words[:1]), words[1:], v.process(), v.used(), failed))
	case failed != "":
		return fmt.Sprintf("%s It %s%s.", failed, v.used(), v.inThread())
	}
	return v.where()
}

// inThread names the thread that took most of the CPU.
func (v view) inThread() string {
	if len(v.load.Threads) == 0 || !v.isTold() {
		return ""
	}
	return ", most in the thread " + report.Name(v.load.Threads[0].Name, 40)
}

// where says where the CPU time goes, or why that cannot be told.
func (v view) where() string {
	stacks := v.stacks()
	total := flame.Total(stacks)
	switch {
	case v.load.IsShort():
		return fmt.Sprintf("The %s %s.", v.process(), v.used())
	case v.load.Used+v.load.Beside < idle && v.starved() == "":
		return fmt.Sprintf("The %s is almost idle: it %s.", v.process(), v.used())
	case !v.isTold():
		return fmt.Sprintf("The %s is hardly busy: it %s, too little to tell where.", v.process(), v.used())
	case v.profile != nil && v.profile.Samples < stack.MinSamples && len(v.profile.Stacks) > 0:
		return fmt.Sprintf("The %s %s; %s too few to tell where: profile it for longer.", v.process(), v.used(), samples(v.profile.Samples))
	case total == 0:
		return fmt.Sprintf("The %s %s, but in no function that its runtime shows.", v.process(), v.used())
	}
	if where, found := flame.Where(stacks); found {
		return fmt.Sprintf("%.0f %% of the CPU time goes into %s%s; the %s %s.", percent(where.Total, total), inWords(where.Name), v.calledFrom(where.Name), v.process(), v.used())
	}
	for _, top := range flame.Top(stacks, tops) {
		if cpu.IsFunction(top.Name) {
			return fmt.Sprintf("No function takes half of the CPU time, the most %s with %.0f %%; the %s %s.", report.Name(top.Name, 120), percent(top.Self, total), v.process(), v.used())
		}
	}
	return fmt.Sprintf("The %s %s, but in no function that its runtime shows.", v.process(), v.used())
}

// calledFrom names the program's own function from which a library's is called, in the heaviest stack with it; "" for one of its own, and where
// the names do not tell.
func (v view) calledFrom(name string) string {
	own := map[target.Runtime]func([]string) string{target.JVM: jvm.Own, target.Node: node.Own, target.Python: v.profile.OwnOf}[v.target.Runtime]
	if own == nil || !cpu.IsFunction(name) {
		return ""
	}
	var heaviest flame.Stack
	for _, stack := range v.stacks() {
		if stack.Value > heaviest.Value && slices.Contains(stack.Frames, name) {
			heaviest = stack
		}
	}
	frames := slices.Clone(heaviest.Frames)
	slices.Reverse(frames)
	frames = frames[max(0, slices.Index(frames, name)):]
	if caller := own(frames); caller != "" && caller != name {
		return ", called from " + report.Name(caller, 80)
	}
	return ""
}

// inWords says what a frame is that is no function.
func inWords(name string) string {
	switch name {
	case cpu.Collector:
		return "the garbage collector"
	case cpu.Compiler:
		return "the compiler of the JVM"
	case cpu.Program, cpu.Elsewhere:
		return "native code"
	case flame.Other:
		return "many functions that are too small to be drawn"
	}
	return report.Name(name, 120)
}

func (v view) files() []file {
	stacks := v.stacks()
	total := flame.Total(stacks)
	if total == 0 {
		return nil
	}
	title := "CPU of " + v.process()
	subtitle := fmt.Sprintf("%s in %s, %.2f of a core. %s.", flame.Amount(total, v.profile.Unit), seconds(v.load.Elapsed), v.load.Used, v.profile.How)
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

// samples is "1 sample is" or "20 samples are".
func samples(count int64) string {
	if count == 1 {
		return "1 sample is"
	}
	return fmt.Sprintf("%d samples are", count)
}

func percent(part, whole int64) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

func seconds(length time.Duration) string { return fmt.Sprintf("%.0f s", length.Seconds()) }
