// Package stack has what the stacks of all runtimes have in common, and says what stands out in them.
package stack

import (
	"fmt"
	"sort"
	"strings"

	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// Thread is one thread, or goroutine, at one moment.
type Thread struct {
	// ID is the thread's id in the process' namespace; 0 for a goroutine.
	ID   int
	Name string
	// State in the runtime's own words, as "BLOCKED" or "IO wait".
	State string
	// Frames, the innermost first.
	Frames []string
	// WaitsFor and Holds name locks; equal names are the same lock. Kind is what is locked, as "Shop$Orders".
	WaitsFor, WaitsForKind string
	Holds                  []string
	// CPU is the share of one CPU that it used during the sample; 1 is a whole one.
	CPU float64
	// Minutes that it has waited, where the runtime says so.
	Minutes int
	// Kernel is what the kernel shows of it between two readings. A runtime may leave it empty: who asked for the dump measures all
	// threads that have an ID meanwhile.
	Kernel thread.Seen
	// Own is the innermost frame of the program's own code, no library's and no runtime's, as "Shop.upstream(Shop.java:9)"; "" where there
	// is none.
	Own string
	// Idle is whether its runtime knows that these frames are those of an idle worker: an empty queue, an acceptor, an event loop that waits
	// for events. False is "not known".
	Idle bool
}

// Dump is what one process does.
type Dump struct {
	Process target.Process
	// Runtime in words, as "JVM 17.0.15".
	Runtime string
	Threads []Thread
	// Deadlocks are the names of the threads of each.
	Deadlocks [][]string
	// Hot has samples of a profile, where there is one: frames, the innermost first, and how often.
	Hot []Sample
	// HotIsSampled is whether Hot comes from a profile, rather than from the threads' CPU time.
	HotIsSampled bool
	// Text is the dump as the runtime's tool wrote it, for a file.
	Text string
	// Notes are lines for the words: what else was seen, and what could not be.
	Notes []string
	// Lack is why there are no stacks; nil if there are.
	Lack *target.Lack
	// Pause says in words what the dump stopped.
	Pause string
	// Files beside the text.
	Files []File
	// Exposed is set where an inspector of the target listens although we did not open it, or could not be closed again.
	Exposed string
	// Collecting is the share of the time that the program waits for its garbage collector, between 0 and 1, and Heap how full its heap is, as
	// "old generation 99 % of 30 MiB"; "" where that is not known.
	Collecting float64
	Heap       string
	// Silent is set where the runtime did not answer although it should.
	Silent string
}

// File is one that goes with the result.
type File struct {
	Name    string
	Content []byte
}

// Sample is one stack of a profile. Value is in samples or ticks: only its share counts.
type Sample struct {
	Frames []string
	Value  float64
}

// Frame is one frame, and its share of the samples between 0 and 1.
type Frame struct {
	Name  string
	Share float64
}

// Hottest are the innermost frames that took most of the time.
func Hottest(samples []Sample, most int) []Frame {
	sums, total := map[string]float64{}, 0.0
	for _, sample := range samples {
		if len(sample.Frames) > 0 && sample.Value > 0 {
			sums[sample.Frames[0]] += sample.Value
			total += sample.Value
		}
	}
	frames := make([]Frame, 0, len(sums))
	for name, sum := range sums {
		frames = append(frames, Frame{name, sum / total})
	}
	sort.Slice(frames, func(a, b int) bool {
		if frames[a].Share != frames[b].Share {
			return frames[a].Share > frames[b].Share
		}
		return frames[a].Name < frames[b].Name
	})
	return frames[:min(most, len(frames))]
}

// Lock is one that threads wait for.
type Lock struct {
	Name, Kind string
	// Holder is the thread that has it; empty where the runtime does not say.
	Holder, HolderState, HolderFrame string
	Waiters                          []string
}

// Locks are those that threads wait for and whose owner is known, the most wanted first.
func Locks(threads []Thread) []Lock {
	holders := map[string]Thread{}
	for _, thread := range threads {
		for _, lock := range thread.Holds {
			// Who waits on a lock's condition has given it up for that time.
			if lock != thread.WaitsFor {
				holders[lock] = thread
			}
		}
	}
	found := map[string]*Lock{}
	for _, thread := range threads {
		if thread.WaitsFor == "" {
			continue
		}
		holder, held := holders[thread.WaitsFor]
		if !held && thread.State != "BLOCKED" {
			continue
		}
		lock := found[thread.WaitsFor]
		if lock == nil {
			lock = &Lock{Name: thread.WaitsFor, Kind: thread.WaitsForKind}
			if held {
				lock.Holder, lock.HolderState = holder.Name, holder.State
				if len(holder.Frames) > 0 {
					lock.HolderFrame = holder.Frames[0]
				}
			}
			found[thread.WaitsFor] = lock
		}
		lock.Waiters = append(lock.Waiters, thread.Name)
	}
	locks := make([]Lock, 0, len(found))
	for _, lock := range found {
		locks = append(locks, *lock)
	}
	sort.Slice(locks, func(a, b int) bool {
		if len(locks[a].Waiters) != len(locks[b].Waiters) {
			return len(locks[a].Waiters) > len(locks[b].Waiters)
		}
		return locks[a].Name < locks[b].Name
	})
	return locks
}

// Group is threads that are at the same place.
type Group struct {
	State  string
	Frames []string
	Names  []string
	// Minutes that the longest has waited.
	Minutes int
}

// Groups puts threads with the same state and stack together, the largest group first.
func Groups(threads []Thread) []Group {
	found, order := map[string]*Group{}, []string{}
	for _, thread := range threads {
		key := thread.State + "\n" + strings.Join(thread.Frames, "\n")
		group := found[key]
		if group == nil {
			group = &Group{State: thread.State, Frames: thread.Frames}
			found[key] = group
			order = append(order, key)
		}
		group.Names = append(group.Names, thread.Name)
		group.Minutes = max(group.Minutes, thread.Minutes)
	}
	groups := make([]Group, 0, len(found))
	for _, key := range order {
		groups = append(groups, *found[key])
	}
	sort.SliceStable(groups, func(a, b int) bool { return len(groups[a].Names) > len(groups[b].Names) })
	return groups
}

// States says how many threads are in which state, as "12 WAITING, 3 RUNNABLE", the most first.
func States(threads []Thread) string {
	counts := map[string]int{}
	for _, thread := range threads {
		counts[thread.State]++
	}
	states := make([]string, 0, len(counts))
	for state := range counts {
		states = append(states, state)
	}
	sort.Slice(states, func(a, b int) bool {
		if counts[states[a]] != counts[states[b]] {
			return counts[states[a]] > counts[states[b]]
		}
		return states[a] < states[b]
	})
	for index, state := range states {
		states[index] = fmt.Sprintf("%d %s", counts[state], state)
	}
	if len(states) > 6 {
		states = append(states[:5], fmt.Sprintf("%d other states", len(states)-5))
	}
	return strings.Join(states, ", ")
}
