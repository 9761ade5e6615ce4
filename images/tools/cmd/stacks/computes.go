package main

import (
	"fmt"
	"slices"
	"strings"

	"kdebug/tools/internal/node"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

const (
	// hotShare of the time is worth naming a function for.
	hotShare = 0.1
	// alwaysBusy is from which part of the time on a thread computes all the time, as far as it gets a CPU.
	alwaysBusy = 0.8
)

func findInCPU(part *rules.Part, dump *stack.Dump) {
	heap := ""
	if dump.Heap != "" {
		heap = " (" + dump.Heap + ")"
	}
	if dump.Collecting > 0 {
		part.Find("gc_heavy", 100*dump.Collecting, "the garbage collector takes %.0f%% of the time%s", 100*dump.Collecting, heap)
	}
	if dump.Process.Runtime == target.Node && dump.HotIsSampled {
		busy := busyShare(dump.Hot)
		part.Find("event_loop_busy", 100*busy, "the event loop is busy %.0f%% of the time%s%s", 100*busy, mostly(dump), calledFrom(dump))
		findBeside(part, dump)
		return
	}
	var all []stack.Thread
	ran := 0.0
	for _, each := range dump.Threads {
		// The kernel does not know goroutines: one that ran at both moments, in a process that is busy for one.
		if each.ID == 0 && each.Kernel.Class == thread.OnCPU && dump.Busy > alwaysBusy {
			each.Kernel.Running, each.Kernel.Ready = dump.Cores, dump.Busy-dump.Cores
		}
		if each.Kernel.Busy() > alwaysBusy {
			all = append(all, each)
			ran += each.Kernel.Running
		}
	}
	if len(all) == 0 {
		return
	}
	first := all[0]
	place := in(ownOrFirst(first.Own, first.Frames))
	if told := mostly(dump); told != "" && told != ", mostly in "+first.Own {
		place = in(first.Own) + told
	}
	cores := fmt.Sprintf(", with %.2f of a core", ran)
	const nearlyAll = 0.9
	if first.Kernel.Running < nearlyAll*first.Kernel.Busy() {
		cores += fmt.Sprintf(": it is ready and waits for CPU %.0f%% of the time", 100*first.Kernel.Ready)
	}
	words := fmt.Sprintf("%s of %s computes all the time", first.Name, nameOf(dump))
	if len(all) > 1 {
		words = fmt.Sprintf("%d threads of %s compute all the time", len(all), nameOf(dump))
	} else if first.Name == nameOf(dump) {
		words = first.Name + " computes all the time"
	}
	part.Find("busy_thread", 100*first.Kernel.Busy(), "%s%s%s", words, place, cores)
}

// findBeside tells of a worker of Node.js: the profile is of the event loop alone. The collector has threads as well.
func findBeside(part *rules.Part, dump *stack.Dump) {
	const collector = 0.2
	if len(dump.Beside) == 0 || dump.Collecting > collector {
		return
	}
	first := dump.Beside[0].Kernel
	words := "a thread of " + nameOf(dump) + " beside its event loop computes"
	if len(dump.Beside) > 1 {
		words = fmt.Sprintf("%d threads of %s beside its event loop compute", len(dump.Beside), nameOf(dump))
	}
	part.Find("busy_thread", 100*first.Busy(), "%s all the time, with %.2f of a core: a worker, whose functions are not looked at", words, dump.Cores)
}

// busyShare is how much of a Node profile is not idle: collection and native code block the loop like anything else.
func busyShare(samples []stack.Sample) float64 {
	idle, total := 0.0, 0.0
	for _, each := range samples {
		total += each.Value
		if len(each.Frames) > 0 && each.Frames[0] == "(idle)" {
			idle += each.Value
		}
	}
	if total == 0 {
		return 0
	}
	return 1 - idle/total
}

// mostly names the frame that has most of the time, ", mostly in busy (a.js:1)", where enough was sampled to say so; else it is empty.
func mostly(dump *stack.Dump) string {
	if dump.Samples < stack.MinSamples || dump.Cores < stack.MinCores {
		return ""
	}
	const much = 0.3
	if hot := hottest(dump, 1); len(hot) > 0 && hot[0].Share >= much {
		return ", mostly in " + hot[0].Name
	}
	return ""
}

// calledFrom names the program's own function that calls the hottest one of Node.js, where that is a library's: ", called from price (a.js:1)".
func calledFrom(dump *stack.Dump) string {
	hot := hottest(dump, 1)
	if mostly(dump) == "" || len(hot) == 0 {
		return ""
	}
	var heaviest stack.Sample
	for _, each := range dump.Hot {
		if each.Value > heaviest.Value && slices.Contains(each.Frames, hot[0].Name) {
			heaviest = each
		}
	}
	caller := node.Own(heaviest.Frames[max(0, slices.Index(heaviest.Frames, hot[0].Name)):])
	if caller == "" || caller == hot[0].Name {
		return ""
	}
	return ", called from " + caller
}

// hottest are the functions that had most of the time: neither idleness, nor what a profile calls native code or the collector.
func hottest(dump *stack.Dump, most int) []stack.Frame {
	functions := slices.DeleteFunc(stack.Hottest(withoutIdle(dump.Hot), maxFrames), func(frame stack.Frame) bool { return strings.HasPrefix(frame.Name, "(") })
	return functions[:min(most, len(functions))]
}
