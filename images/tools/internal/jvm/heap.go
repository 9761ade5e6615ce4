package jvm

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Heap is what a heap holds of what it may hold at most, in bytes: the old generation where the collector has one.
type Heap struct {
	// Name is "old generation" or "heap".
	Name      string
	Used, Max int64
}

var (
	old        = regexp.MustCompile(`(?m)^\s*(?:tenured generation|Tenured|ParOldGen|PSOldGen|concurrent mark-sweep generation)\s+total (\d{1,15})K, used (\d{1,15})K \[0x([0-9a-f]{1,16}), ?0x[0-9a-f]{1,16}, ?0x([0-9a-f]{1,16})\)`)
	g1         = regexp.MustCompile(`(?m)^\s*garbage-first heap\s+total (?:reserved )?(\d{1,15})K,.* used (\d{1,15})K \[0x([0-9a-f]{1,16}), ?(?:0x[0-9a-f]{1,16}, ?)?0x([0-9a-f]{1,16})\)`)
	g1Young    = regexp.MustCompile(`, \d{1,9} young \((\d{1,15})K\)`)
	zgc        = regexp.MustCompile(`(?m)^\s*ZHeap\s+used (\d{1,9})M,.* max capacity (\d{1,9})M`)
	shenandoah = regexp.MustCompile(`(?m)^\s*(\d{1,15})K max,.* (\d{1,15})K used`)
)

// ParseHeap reads an answer to GC.heap_info of the collectors Serial, Parallel, CMS, G1, ZGC and Shenandoah. False for any other text.
func ParseHeap(text string) (Heap, bool) {
	heap := Heap{Name: "heap"}
	if found := old.FindStringSubmatch(text); found != nil {
		heap = Heap{"old generation", 1024 * number(found[2], 10), number(found[4], 16) - number(found[3], 16)}
	} else if found := g1.FindStringSubmatch(text); found != nil {
		heap.Used, heap.Max = 1024*number(found[2], 10), number(found[4], 16)-number(found[3], 16)
		if young := g1Young.FindStringSubmatch(text); young != nil {
			heap.Name, heap.Used = "old generation", max(0, heap.Used-1024*number(young[1], 10))
		}
	} else if found := zgc.FindStringSubmatch(text); found != nil {
		heap.Used, heap.Max = number(found[1], 10)<<20, number(found[2], 10)<<20
	} else if found := shenandoah.FindStringSubmatch(text); found != nil {
		heap.Used, heap.Max = 1024*number(found[2], 10), 1024*number(found[1], 10)
	}
	return heap, heap.Max > 0
}

func number(text string, base int) int64 {
	value, _ := strconv.ParseInt(text, base, 64)
	return value
}

// Words are "old generation 99 % of 30 MiB".
func (h Heap) Words() string {
	return fmt.Sprintf("%s %.0f %% of %.0f MiB", h.Name, h.Percent(), float64(h.Max)/(1<<20))
}

// Percent is how full it is.
func (h Heap) Percent() float64 { return 100 * float64(h.Used) / float64(max(h.Max, 1)) }

// Work is the CPU of one thread over a sample, by the name that the kernel or the JVM gives it: shares of one CPU.
type Work struct {
	Name           string
	Running, Ready float64
}

// stopping are the threads that collect while the program is stopped, concurrent those that collect beside it; the kernel cuts names.
var (
	stopping   = []string{"VM Thread", "GC Thread#", "GC task thread#", "Gang worker#", "ParGC Thread#"}
	concurrent = []string{"G1 Conc#", "G1 Main Marker", "G1 Refine#", "ZWorker", "ZDriver", "ZDirector", "Shenandoah", "ShenControl", "Concurrent Mark-"}
	compiling  = []string{"C1 CompilerThre", "C2 CompilerThre", "C1 ", "C2 ", "JVMCI"}
	// asked are those that work because a look asked the JVM for something.
	asked = []string{"JFR ", "Attach Listener"}
)

// Kind is what a thread of the JVM itself does: "garbage collector", "compiler" or "recorder"; "" for each other thread.
func Kind(name string) string {
	switch {
	case begins(name, stopping) || begins(name, concurrent):
		return "garbage collector"
	case begins(name, compiling):
		return "compiler"
	case begins(name, asked):
		return "recorder"
	}
	return ""
}

// leastCollecting is less CPU than a collector is told of, in cores.
const leastCollecting = 0.2

// Collecting is how much of the time the program waits for its collector, between 0 and 1, and the CPU that this takes, in cores. A collector
// that stops the program counts by the time that its busiest thread runs or is ready to; one that works beside it by its share of the process' CPU.
func Collecting(threads []Work) (share, cores float64) {
	longest, beside, all := 0.0, 0.0, 0.0
	for _, thread := range threads {
		all += thread.Running
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
	if cores >= leastCollecting || longest >= leastCollecting {
		share = longest
	}
	if beside >= leastCollecting {
		share = max(share, beside/all)
	}
	return min(share, 1), cores
}

// firstLine of an answer that says something.
func firstLine(answer string) string {
	for line := range strings.Lines(answer) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
