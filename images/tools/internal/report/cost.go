package report

import (
	"syscall"
	"time"
)

// CostSince says what this process and its children took since a time.
func CostSince(began time.Time) *Cost {
	cost := &Cost{Milliseconds: time.Since(began).Milliseconds()}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if syscall.Getrusage(who, &usage) == nil {
			cost.CPUMilliseconds += (usage.Utime.Nano() + usage.Stime.Nano()) / int64(time.Millisecond)
			// Of ours and of the largest child: they are there together.
			cost.MemoryBytes += usage.Maxrss * 1024
		}
	}
	return cost
}
