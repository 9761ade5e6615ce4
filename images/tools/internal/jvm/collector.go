package jvm

import "kdebug/tools/internal/thread"

// Work is the CPU of one thread over a sample, by the name that the kernel or the JVM gives it: shares of one CPU.
type Work struct {
	Name           string
	Running, Ready float64
}

// stopping are the threads that collect while the program is stopped, concurrent those that collect beside it; the kernel cuts names.
var (
	stopping   = []string{"VM Thread", "GC Thread#", "GC task thread#", "Gang worker#", "ParGC Thread#"}
	concurrent = []string{"G1 Conc#", "G1 Main Marker", "G1 Refine#", "ZWorker", "ZDriver", "ZDirector", "Shenandoah", "ShenControl", "Concurrent Mark-"}
	asked      = []string{"JFR ", "Attach Listener"}
)

// Kinds of the JVM's own threads. A Recorder works because a look asked the JVM for something.
const (
	Collector = "garbage collector"
	Compiler  = "compiler"
	Recorder  = "recorder"
)

// Kind is what a thread of the JVM itself does; "" for each other thread.
func Kind(name string) string {
	switch {
	case begins(name, stopping) || begins(name, concurrent):
		return Collector
	case thread.IsCompiler(name):
		return Compiler
	case begins(name, asked):
		return Recorder
	}
	return ""
}

// leastCollecting is less CPU than a collector is told of, in cores.
const leastCollecting = 0.2

// leastPart is which part of the CPU of the program and its collector this must take: on a full node each thread is ready for long, whatever it does.
const leastPart = 0.25

// Collecting is how much of the time the program waits for its collector, between 0 and 1, and the CPU that this takes, in cores. A collector
// that stops the program counts by the time that its busiest thread runs or is ready to; one that works beside it by its share of the process' CPU.
func Collecting(threads []Work) (share, cores float64) {
	longest, beside, all := 0.0, 0.0, 0.0
	for _, thread := range threads {
		if kind := Kind(thread.Name); kind == "" || kind == Collector {
			all += thread.Running
		}
		switch {
		case begins(thread.Name, stopping):
			longest = max(longest, thread.Running+thread.Ready)
		case begins(thread.Name, concurrent):
			beside += thread.Running
		default:
			continue
		}
		cores += thread.Running
	}
	if longest >= leastCollecting && cores >= leastPart*all {
		share = longest
	}
	if beside >= leastCollecting {
		share = max(share, beside/all)
	}
	return min(share, 1), cores
}
