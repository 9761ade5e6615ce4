package cpu

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

// Usage is how many cores something used.
type Usage struct {
	Name  string
	Cores float64
}

// Meter holds the CPU times of a process at a moment. Everybody may read them.
type Meter struct {
	target *target.Target
	began  time.Time
	used   *stack.Meter
	waited int64
}

// Start begins to measure the target's process.
func Start(t *target.Target) *Meter {
	return &Meter{t, time.Now(), stack.Start(t.FS(), t.PID), waited(t)}
}

// waited is for how long the process' threads were ready to run and got no CPU, in nanoseconds: throttled, or the node is busy. 0 where the
// kernel does not count it.
func waited(t *target.Target) (sum int64) {
	for _, thread := range t.Threads(t.PID) {
		text, _ := os.ReadFile(t.FS().Path(t.PID, "task", fmt.Sprint(thread), "schedstat"))
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			nanoseconds, _ := strconv.ParseInt(fields[1], 10, 64)
			sum += nanoseconds
		}
	}
	return sum
}

// Load is the CPU of a process over a time, in cores.
type Load struct {
	Used float64
	// Waiting is what it would have used besides, had it got a CPU whenever it was ready.
	Waiting float64
	// Threads are those that used some, the busiest first.
	Threads []Usage
}

// Read gives what the process used since Start.
func (m *Meter) Read() Load {
	load := Load{Waiting: float64(max(waited(m.target)-m.waited, 0)) / float64(max(time.Since(m.began), time.Millisecond))}
	for thread, share := range m.used.Shares() {
		load.Used += share
		if share < 0.001 {
			continue
		}
		if status, err := m.target.FS().Status(fmt.Sprintf("%d/task/%d", m.target.PID, thread)); err == nil {
			load.Threads = append(load.Threads, Usage{status.Name, share})
		}
	}
	slices.SortFunc(load.Threads, func(a, b Usage) int { return cmp.Or(cmp.Compare(b.Cores, a.Cores), cmp.Compare(a.Name, b.Name)) })
	return load
}

// Busiest gives the target with the process of its container that a profile should be of: the one with a runtime that can be profiled which
// used most CPU within so long, or the one that it has where none used any: a master process mostly waits for its workers.
func Busiest(t *target.Target, within time.Duration) *target.Target {
	profiled := func(process target.Process) bool {
		return process.Runtime != target.Native && process.Runtime != target.Unknown
	}
	before := map[int]int64{}
	for _, process := range t.Processes {
		before[process.PID], _, _ = t.FS().Times(fmt.Sprint(process.PID))
	}
	if len(t.Processes) < 2 {
		return t
	}
	time.Sleep(within)
	chosen, most := t.Process, int64(0)
	for _, process := range t.Processes {
		used, _, err := t.FS().Times(fmt.Sprint(process.PID))
		if used -= before[process.PID]; err == nil && used > most && profiled(process) {
			chosen, most = process, used
		}
	}
	other := *t
	other.Process = chosen
	return &other
}
