// Package thread says what each thread of a process does, from facts of the kernel alone, without stopping anything: the CPU that it had and
// lacked, the system call in which it waits, and the socket behind that.
package thread

import (
	"context"
	"strconv"
	"time"

	"kdebug/tools/internal/run"
	"kdebug/tools/internal/target"
)

// Class is what a thread does.
type Class string

// The classes. Lock is any wait for another thread: the kernel cannot tell a lock from the empty queue of an idle worker, its runtime can.
const (
	OnCPU  Class = "on CPU"
	Ready  Class = "ready"
	Lock   Class = "lock"
	Socket Class = "socket"
	Disk   Class = "disk"
	Queue  Class = "queue"
	Timer  Class = "timer"
	Other  Class = "other"
)

// Seen is one thread between two readings. The zero value is a thread of which nothing is known.
type Seen struct {
	// Running and Ready are shares of one CPU over the time between the readings: what it had, and what it was ready for and did not get.
	Running, Ready float64
	// Runs is how often it came on a CPU, a second; -1 where the kernel does not count it, or the thread is new.
	Runs float64
	// Class is its main one over the time where it was ready or running for half of it; else it is that of the second reading. Disk is a
	// thread that was in the same uninterruptible wait at both readings, at least a second apart.
	Class Class
	// Peer is the other side of the connection that it waits for, as "10.1.2.3:5432", where that is one that this pod opened; else empty.
	Peer string
	// Waited is since when that connection was silent in both directions; 0 where that is not known.
	Waited time.Duration
	// Words say it in plain English: "reading from 10.1.2.3:5432".
	Words string
}

// Busy is the share of the time that it ran or was ready to: how busy it is, however much CPU it gets.
func (s Seen) Busy() float64 { return s.Running + s.Ready }

// Still is whether it used no CPU to speak of and hardly woke: a thread that serves one request after the other is not still.
func (s Seen) Still() bool {
	const most, wakes = 0.02, 2
	return s.Busy() < most && s.Runs <= wakes
}

// maxThreads bounds how many threads of a process are read.
const maxThreads = 5000

// Least is the shortest time that a share of a CPU is told of: of less, on a pod without CPU, it may be anything.
const Least = time.Second

// Watch is a measurement between two readings.
type Watch struct {
	fs    target.FS
	pid   int
	began time.Time
	// used is what the process had used then, of all its threads, in ticks; -1 where that is not known.
	used  int64
	first map[int]reading
}

// Start takes the first reading of all threads of a process.
func Start(fs target.FS, pid int) *Watch {
	watch := &Watch{fs: fs, pid: pid, began: time.Now(), used: ticks(fs, pid), first: map[int]reading{}}
	for _, id := range watch.threads() {
		watch.first[id] = readingOf(fs, pid, id)
	}
	return watch
}

// Wait lets so long have passed since Start, or returns when the context ends.
func (w *Watch) Wait(ctx context.Context, length time.Duration) {
	run.Pause(ctx, time.Until(w.began.Add(length)))
}

// Read takes a second reading, by thread id. It can be called again, for the time since Start; within Least it gives no shares of a CPU.
func (w *Watch) Read() map[int]Seen {
	elapsed := time.Since(w.began)
	files := &files{fs: w.fs, pid: w.pid}
	seen := map[int]Seen{}
	for _, id := range w.threads() {
		first, known := w.first[id]
		seen[id] = w.between(id, first, known, elapsed, files)
	}
	return seen
}

// Cores is what the process used since Start, in cores, with its threads that ended meanwhile: a server may have one for each request. It is 0 within Least
// and where it is not known.
func (w *Watch) Cores() float64 {
	elapsed, now := time.Since(w.began), ticks(w.fs, w.pid)
	if w.used < 0 || now < 0 || elapsed < Least {
		return 0
	}
	return share(time.Duration(now-w.used)*tick, elapsed)
}

func ticks(fs target.FS, pid int) int64 {
	used, _, err := fs.Times(strconv.Itoa(pid))
	if err != nil {
		return -1
	}
	return used
}

func (w *Watch) threads() []int {
	threads := w.fs.Threads(w.pid)
	return threads[:min(len(threads), maxThreads)]
}

func (w *Watch) between(id int, first reading, known bool, elapsed time.Duration, files *files) Seen {
	second := readingOf(w.fs, w.pid, id)
	seen := Seen{Runs: -1}
	if known && elapsed >= Least {
		seen.Running = share(second.ran-first.ran, elapsed)
		seen.Ready = share(second.waited-first.waited, elapsed)
		if first.counted && second.counted {
			seen.Runs = float64(second.runs-first.runs) / elapsed.Seconds()
		}
	}
	const half = 0.5
	switch {
	case seen.Busy() >= half && seen.Running >= seen.Ready:
		seen.Class, seen.Words = OnCPU, "computing"
	case seen.Busy() >= half:
		seen.Class, seen.Words = Ready, "ready to run, without CPU"
	default:
		w.waiting(id, &seen, second.state, known && stayed(first, second, elapsed), files)
	}
	return seen
}

// stayed is whether a thread was in the same uninterruptible wait at both readings: a disk that is only busy lets it run in between.
func stayed(first, second reading, elapsed time.Duration) bool {
	return elapsed >= time.Second && first.state == 'D' && second.state == 'D' && first.runs == second.runs && first.ran == second.ran
}

func share(part, whole time.Duration) float64 { return max(0, float64(part)/float64(whole)) }
