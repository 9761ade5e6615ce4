package stack

import (
	"fmt"
	"time"

	"kdebug/tools/internal/target"
)

// ticksASecond is what /proc counts CPU time in, on every platform that containers run on (USER_HZ).
const ticksASecond = 100

// Meter measures the CPU that threads use between Start and Shares.
type Meter struct {
	fs    target.FS
	pid   int
	began time.Time
	used  map[int]int64
}

// Start begins a measurement of all threads of a process.
func Start(fs target.FS, pid int) *Meter {
	meter := &Meter{fs, pid, time.Now(), map[int]int64{}}
	for _, thread := range fs.Threads(pid) {
		if used, _, err := fs.Times(threadPath(pid, thread)); err == nil {
			meter.used[thread] = used
		}
	}
	return meter
}

// Shares are the shares of a CPU that each thread used since Start, by its id.
func (m *Meter) Shares() map[int]float64 {
	ticks := time.Since(m.began).Seconds() * ticksASecond
	shares := map[int]float64{}
	for _, thread := range m.fs.Threads(m.pid) {
		if used, _, err := m.fs.Times(threadPath(m.pid, thread)); err == nil && ticks > 0 {
			shares[thread] = float64(used-m.used[thread]) / ticks
		}
	}
	return shares
}

func threadPath(pid, thread int) string { return fmt.Sprintf("%d/task/%d", pid, thread) }

// WithShares puts the measured CPU to each thread, and gives the busy ones' stacks as samples.
func WithShares(threads []Thread, shares map[int]float64) []Sample {
	var samples []Sample
	for index := range threads {
		thread := &threads[index]
		thread.CPU = shares[thread.ID]
		if thread.CPU > 0 && len(thread.Frames) > 0 {
			samples = append(samples, Sample{thread.Frames, thread.CPU})
		}
	}
	return samples
}
