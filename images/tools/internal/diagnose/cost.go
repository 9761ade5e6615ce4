package diagnose

import (
	"os"
	"strings"
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
)

// costSince is what this look took. Memory: the most that our own cgroup held, where we are in a container; what the kernel says of processes counts the
// program's own pages too, which a node has once for all looks.
func costSince(began time.Time) *report.Cost {
	cost := report.CostSince(began)
	if peak := ownPeak("/sys/fs/cgroup", readFile("/proc/self/cgroup")); peak.Known {
		cost.MemoryBytes = peak.Value
	}
	return cost
}

// ownPeak reads our cgroup below a mount; places is /proc/self/cgroup.
func ownPeak(mount, places string) cgroup.Amount {
	if peak := cgroup.Parse(readFile(mount + "/memory.peak")); peak.Known {
		return peak
	}
	for line := range strings.Lines(places) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		// In a container the path of cgroup version 1 is that of the node, which is not below our mount.
		if len(fields) == 3 && fields[1] == "memory" && fields[2] != "/" && !isFolder(mount+"/memory"+fields[2]) {
			return cgroup.Parse(readFile(mount + "/memory/memory.max_usage_in_bytes"))
		}
	}
	return cgroup.Amount{}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
