package room

import (
	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

// FindMemory puts into a part what one reading says of a container's memory: processes that the kernel killed for lack of it, and that little is left.
func FindMemory(part *rules.Part, now cgroup.Memory) {
	part.Find("oom_kill", float64(now.Kills.Value), "the kernel killed %s of the target for lack of memory", report.Counted(now.Kills.Value, "process", "processes"))
	if now.Limit.Value > 0 {
		share := Share(now)
		part.Find("memory_near_limit", float64(share), "memory at %d%% of its limit (%d of %d MiB)", share, now.Working()>>20, now.Limit.Value>>20)
	}
}

// Share is how many percent of its limit a container uses, without the cache that is easily freed; 0 without a limit.
func Share(now cgroup.Memory) int64 {
	if now.Limit.Value == 0 {
		return 0
	}
	return now.Working() * 100 / now.Limit.Value
}
