package cpu

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"kdebug/tools/internal/jvm"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// Usage is one thread: the shares of one CPU that it had, and that it was ready for and did not get.
type Usage struct {
	ID             int
	Name           string
	Running, Ready float64
}

// Busy is the share of the time that it ran or was ready to.
func (u Usage) Busy() float64 { return u.Running + u.Ready }

// Load is the CPU of a process over a time, without what a JVM's threads that answer our questions used.
type Load struct {
	// Used is in cores, with threads that ended meanwhile.
	Used float64
	// Beside is what the other processes of the container used, in cores, and Others how many of them were there all the time.
	Beside float64
	Others int
	// Elapsed is the time that it was measured for.
	Elapsed time.Duration
	// Asking is how many threads wait for a name server and do nothing else, in words; "" for none.
	Asking string
	// Threads are those that used some or wanted to, the busiest first.
	Threads []Usage
}

// IsShort is whether it was measured for too short a time to tell anything of it.
func (l Load) IsShort() bool { return l.Elapsed < thread.Least }

// Busy is in cores: what the process used, or, where that is more, how busy its busiest thread was.
func (l Load) Busy() float64 {
	if len(l.Threads) == 0 {
		return l.Used
	}
	return max(l.Used, l.Threads[0].Busy())
}

// Collecting is how much of the time the process waits for its garbage collector, between 0 and 1, and the CPU that this takes, in cores: what the
// names of a JVM's own threads say.
func (l Load) Collecting() (share, cores float64) {
	work := make([]jvm.Work, len(l.Threads))
	for index, each := range l.Threads {
		work[index] = jvm.Work{Name: each.Name, Running: each.Running, Ready: each.Ready}
	}
	return jvm.Collecting(work)
}

// Waiting is the thread that waited longest for a CPU.
func (l Load) Waiting() Usage {
	var longest Usage
	for _, each := range l.Threads {
		if each.Ready > longest.Ready {
			longest = each
		}
	}
	return longest
}

// Meter holds the CPU times of a process at a moment. Everybody may read them.
type Meter struct {
	target *target.Target
	began  time.Time
	watch  *thread.Watch
	others map[int]age
}

// age is what a process had used at a moment, and when it began, in ticks: its number may be another's later.
type age struct{ used, start int64 }

// Start begins to measure the target's process.
func Start(t *target.Target) *Meter {
	meter := &Meter{t, time.Now(), thread.Start(t.FS(), t.PID), map[int]age{}}
	for _, process := range t.Processes {
		if used, start, err := t.FS().Times(fmt.Sprint(process.PID)); err == nil && process.PID != t.PID {
			meter.others[process.PID] = age{used, start}
		}
	}
	return meter
}

// least is the share of a CPU below which a thread is not told of.
const least = 0.001

// Wait lets so long have passed since Start, or returns when the context ends.
func (m *Meter) Wait(ctx context.Context, length time.Duration) { m.watch.Wait(ctx, length) }

// Read gives what the process used since Start. It can be called again.
func (m *Meter) Read() Load {
	load := Load{Elapsed: time.Since(m.began)}
	asking, server, ours := 0, "", 0.0
	for id, seen := range m.watch.Read() {
		if strings.HasPrefix(seen.Words, thread.Names) && seen.Still() {
			asking, server = asking+1, seen.Peer
		}
		if seen.Busy() < least {
			load.Used += seen.Running
			continue
		}
		name := ""
		if status, err := m.target.FS().Status(fmt.Sprintf("%d/task/%d", m.target.PID, id)); err == nil {
			name = status.Name
		}
		// That it used CPU because of us says nothing of the program.
		if m.target.Runtime == target.JVM && jvm.Kind(name) == jvm.Recorder {
			ours += seen.Running
			continue
		}
		load.Used += seen.Running
		load.Threads = append(load.Threads, Usage{id, name, seen.Running, seen.Ready})
	}
	load.Used = max(load.Used, m.watch.Cores()-ours)
	load.Beside, load.Others = m.beside(load.Elapsed)
	if asking > 0 {
		load.Asking = fmt.Sprintf("%s for the name server %s", report.Counted(asking, "thread waits", "threads wait"), server)
	}
	slices.SortFunc(load.Threads, func(a, b Usage) int {
		return cmp.Or(cmp.Compare(b.Busy(), a.Busy()), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return load
}

func (m *Meter) beside(elapsed time.Duration) (cores float64, others int) {
	if elapsed < thread.Least {
		return 0, 0
	}
	for pid, before := range m.others {
		if used, start, err := m.target.FS().Times(fmt.Sprint(pid)); err == nil && start == before.start {
			cores, others = cores+float64(used-before.used)/(100*elapsed.Seconds()), others+1
		}
	}
	return cores, others
}

// Busiest gives the target with the process of its container that used most CPU within so long: a master process mostly waits for its workers.
// A native process, of which no profile can be had, is chosen only where it used at least a fifth of a core and more than twice what any other
// did; where none used any, it is the one that the target has.
func Busiest(t *target.Target, within time.Duration) *target.Target {
	if len(t.Processes) < 2 {
		return t
	}
	before := map[int]int64{}
	for _, process := range t.Processes {
		before[process.PID], _, _ = t.FS().Times(fmt.Sprint(process.PID))
	}
	time.Sleep(within)
	used := map[int]int64{}
	for _, process := range t.Processes {
		if now, _, err := t.FS().Times(fmt.Sprint(process.PID)); err == nil {
			used[process.PID] = now - before[process.PID]
		}
	}
	return t.With(busiest(t.Processes, t.Process, used))
}

// busiest chooses by the ticks of 10 ms that each used.
func busiest(processes []target.Process, otherwise target.Process, used map[int]int64) target.Process {
	chosen, native := otherwise, otherwise
	for _, process := range processes {
		if used[process.PID] > used[native.PID] {
			native = process
		}
		if isProfiled(process) && used[process.PID] > 0 && (used[process.PID] > used[chosen.PID] || !isProfiled(chosen)) {
			chosen = process
		}
	}
	if !isProfiled(chosen) || used[native.PID] > 2*used[chosen.PID] && used[native.PID] >= 10 {
		return native
	}
	return chosen
}

func isProfiled(process target.Process) bool {
	return process.Runtime != target.Native && process.Runtime != target.Unknown
}
