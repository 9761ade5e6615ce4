package diagnose

import (
	"fmt"
	"syscall"
	"time"

	"kdebug/tools/internal/cgroup"
)

// quota is what tells whether a CPU limit holds the target up: of its own, or of its pod, which is the sum of those of its containers and which this look
// lives on too. The target's own counters of throttling are silent about the second.
type quota struct {
	// limit is the container's own, in millicores; 0 without one.
	limit cgroup.Amount
	// ours is the CPU time of this look: up to the beginning of the sample, then that within it.
	ours time.Duration
	// theirs is the target's within the sample; unknown where nothing counts it. In microseconds.
	theirs  cgroup.Amount
	stalled cgroup.Stall
	elapsed time.Duration
}

// since is the quota within the sample, by what was read at its end.
func (q quota) since(usage, before cgroup.Amount, stalled cgroup.Stall, elapsed time.Duration) quota {
	return quota{
		limit: q.limit, ours: ownCPU() - q.ours, elapsed: elapsed,
		theirs:  cgroup.Amount{Value: usage.Value - before.Value, Known: usage.Known && before.Known},
		stalled: cgroup.Stall{Length: stalled.Length - q.stalled.Length, Known: stalled.Known && q.stalled.Known},
	}
}

// farFromLimit: a thread that a limit of the pod holds up for a share of the time has used at least that share of the limit, together with whoever else lives on
// it: the other containers cannot use more than their own part. Half of it leaves room for what the kernel counts late.
const farFromLimit = 0.5

// next is what to do about a thread that had no CPU for this share of the time. That no limit does it is said only where the numbers prove it.
func (q quota) next(waited float64) string {
	const unsure = "Raise its CPU request, or a CPU limit that holds it up: of its container or of its pod. This look cannot tell the two from a busy node."
	millicores := func(used time.Duration) int64 { return used.Milliseconds() * 1000 / max(1, q.elapsed.Milliseconds()) }
	theirs, ours := millicores(time.Duration(q.theirs.Value)*time.Microsecond), millicores(q.ours)
	switch {
	// A limit of any level stops the whole container, which is counted; a busy node may stop it too.
	case q.stalled.Known && float64(q.stalled.Length) < farFromLimit*waited*float64(q.elapsed):
		return "Raise its CPU request, or look at what else runs on the node: no CPU limit holds it up, neither its own nor the pod's."
	case !q.limit.Known || !q.theirs.Known || q.elapsed <= 0:
		return unsure
	case q.limit.Value == 0:
		return "Raise its CPU request, or look at what else runs on the node: it has no CPU limit of its own."
	case (theirs+ours)*100 >= q.limit.Value*90:
		return fmt.Sprintf("Its CPU limit holds it up: it used %d of %d millicores, and this look, in the same pod, %d. Find what computes: profile shows it. Where that work is wanted, raise or remove the limit.", theirs, q.limit.Value, ours)
	case float64(theirs+ours) < farFromLimit*waited*float64(q.limit.Value):
		return fmt.Sprintf("Raise its CPU request, or look at what else runs on the node: it is not its own CPU limit that holds it up, of which it used %d of %d millicores.", theirs, q.limit.Value)
	}
	return unsure
}

// ownCPU is the CPU time that this process and its children have used.
func ownCPU() time.Duration {
	used := time.Duration(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if syscall.Getrusage(who, &usage) == nil {
			used += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}
	}
	return used
}
