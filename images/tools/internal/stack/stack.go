// Package stack has what the stacks of all runtimes have in common, and says what stands out in them.
package stack

import (
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// Of fewer samples, or less CPU in cores, a share of the time says nothing, and none is told.
const (
	MinSamples = 50
	MinCores   = 0.2
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
	// InLoop is whether an event loop called Own and waits for it: as long as this thread waits, nothing else of the loop runs.
	InLoop bool
	// Serves is whether frames of a server or a framework are around Own: it has a request in its hands. False is "not known".
	Serves bool
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
	// Samples is how many samples Hot has that are not idle, and Cores how much CPU all threads had meanwhile: of few samples, or little CPU, a
	// share says nothing.
	Samples int
	Cores   float64
	// Busy is Cores with what they were ready for and did not get.
	Busy float64
	// Beside are the threads of Node.js that compute all the time beside its event loop, which alone was looked into.
	Beside []Thread
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
	// HeapFull is whether it has less than a tenth left.
	HeapFull bool
	// Doubt is what may be wrong with it, in words, although the runtime says no more: "it waits for 8 file operations"; "" for nothing.
	Doubt string
	// Unseen says which of the process' threads are not in Threads, and why: "its virtual threads are not looked at: …"; "" where all are.
	Unseen string
	// Silent is set where the runtime did not answer although it should.
	Silent string
}

// File is one that goes with the result.
type File struct {
	Name    string
	Content []byte
}
