// Package room says whether a target has the memory and the CPU that a look into it takes: its container must not be killed for it.
package room

import (
	"context"
	"fmt"
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/run"
	"kdebug/tools/internal/target"
)

// Needed is what Flight Recorder or V8's profiler may take of the target's memory, in bytes: what they took in a Tomcat and an express, rounded up.
const Needed = 20 << 20

// Lack says that the target's container has less memory left than what asks for it needs; nil if it has enough, or nobody can tell.
func Lack(t *target.Target, who string) *target.Lack { return lack(cgroup.Of(t).ReadMemory(), who) }

func lack(memory cgroup.Memory, who string) *target.Lack {
	free, limited := memory.Free()
	if !limited || free >= Needed {
		return nil
	}
	return &target.Lack{Lacks: fmt.Sprintf("memory: %s may take %d MiB, and the container has %d of its %d MiB left", who, Needed>>20, free>>20, memory.Limit.Value>>20)}
}

// periods is how long it is watched whether a container is throttled: three periods of the kernel's default.
const periods = 300 * time.Millisecond

// Slow is what to say before a look into a target whose container has used up its CPU limit: the look lives on the same limit of the pod. "" where it
// has not, or nobody can tell. It takes 0.3 s.
func Slow(ctx context.Context, t *target.Target) string {
	return slow(cgroup.Of(t), func() { run.Pause(ctx, periods) })
}

func slow(group cgroup.Group, wait func()) string {
	before := group.ReadCPU()
	if before.Periods.Value == 0 {
		return ""
	}
	wait()
	after := group.ReadCPU()
	held := after.Throttled.Value - before.Throttled.Value
	if held < 1 || 2*held < after.Periods.Value-before.Periods.Value {
		return ""
	}
	limit := ""
	if millicores := group.CPULimit().Value; millicores > 0 {
		limit = fmt.Sprintf(" of %d m", millicores)
	}
	return "This look will be slow: the container has used up its CPU limit" + limit + ", and the look lives on the limit of the same pod."
}
