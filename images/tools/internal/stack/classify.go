package stack

import (
	"strings"

	"kdebug/tools/internal/thread"
)

// Classify says what a thread does from the kernel's facts and its runtime's words together. CPU is the kernel's to tell; that a wait is idle,
// or one for a lock, is the runtime's.
func Classify(t Thread) thread.Class {
	kernel := t.Kernel.Class
	switch {
	case kernel == "":
		return ofRuntime(t)
	case kernel == thread.OnCPU || kernel == thread.Ready || kernel == thread.Disk:
		return kernel
	case t.Idle:
		return thread.Queue
	case waitsForLock(t):
		return thread.Lock
	case kernel == thread.Lock:
		// A futex that no runtime explains.
		return thread.Other
	}
	return kernel
}

// Does says the same in words that go after a number or a name: "idle", "reading from 10.1.2.3:5432".
func Does(t Thread) string {
	class := Classify(t)
	switch {
	case class == thread.Queue && t.Idle:
		return "idle"
	case class == thread.Lock:
		return "waiting for a lock"
	case t.Kernel.Class == thread.Lock && t.State != "":
		// Its runtime has words for locks, and has none here.
		return "waiting"
	case t.Kernel.Words != "":
		return t.Kernel.Words
	case class == thread.OnCPU:
		return "running"
	case goStates[t.State] != "":
		return goStates[t.State]
	case t.State != "":
		return "in the state " + t.State
	}
	return "waiting"
}

// goStates are the words of Go for what a goroutine waits for.
var goStates = map[string]string{
	"IO wait": "waiting for the network", "chan receive": "waiting for a channel", "chan send": "waiting to send to a channel", "select": "waiting for channels",
	"sleep": "sleeping", "syscall": "in a system call", "semacquire": "waiting for another goroutine", "sync.WaitGroup.Wait": "waiting for other goroutines",
	"sync.Cond.Wait": "waiting for another goroutine", "select (no cases)": "waiting for ever", "chan receive (nil chan)": "waiting for ever",
}

// noLocks are parts of the names of what a Java thread parks for that nobody holds: a condition, an empty queue, another's result.
var noLocks = []string{"ConditionObject", "SynchronousQueue", "TransferQueue", "TransferStack", "CountDownLatch", "Semaphore", "FutureTask", "CompletableFuture", "ForkJoinPool", "Phaser", "Exchanger"}

// waitsForLock is whether the runtime says that the thread waits for one that another holds.
func waitsForLock(t Thread) bool {
	if t.State == "BLOCKED" || strings.HasPrefix(t.State, "sync.Mutex") || strings.HasPrefix(t.State, "sync.RWMutex") || t.State == ForLock {
		return true
	}
	if t.WaitsFor == "" {
		return false
	}
	for _, part := range noLocks {
		if strings.Contains(t.WaitsForKind, part) {
			return false
		}
	}
	return true
}

// ForLock is the State of a thread of a runtime without words of its own, of which is known that it waits for a lock.
const ForLock = "waiting for a lock"

// ofRuntime is for what the kernel does not know: goroutines and virtual threads.
func ofRuntime(t Thread) thread.Class {
	switch {
	case t.Idle:
		return thread.Queue
	case waitsForLock(t):
		return thread.Lock
	case t.State == "running" || t.State == "runnable":
		return thread.OnCPU
	case t.State == "IO wait":
		return thread.Socket
	case t.State == "sleep":
		return thread.Timer
	}
	return thread.Other
}
