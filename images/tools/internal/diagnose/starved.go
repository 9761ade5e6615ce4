package diagnose

import (
	"fmt"
	"slices"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// maxWatched bounds the threads whose waits for a CPU are read: each is a file, twice.
const maxWatched = 500

// delays are the waits of the target's threads for a CPU, by process and thread: what the kernel counts for each, also where it has no PSI (version 1
// of cgroups), and where the CPU limit is not what holds a thread up.
type delays map[int]map[int]time.Duration

func readDelays(look *Look) delays {
	if look.Settings.Sample == 0 || look.tight {
		return nil
	}
	read, left := delays{}, maxWatched
	for _, each := range look.tree.living[:min(len(look.tree.living), maxListed)] {
		read[each.pid] = thread.Delays(look.Target.FS(), each.pid, left)
		left -= len(read[each.pid])
	}
	return read
}

// findStarved tells of the thread that waited longest for a CPU, unless the container's limit has been found to be the cause.
func (d delays) findStarved(look *Look, part *rules.Part, elapsed time.Duration, by quota) {
	if slices.ContainsFunc(part.Findings, func(each report.Finding) bool { return each.Code == "cpu_throttled" || each.Code == "cpu_near_limit" }) {
		return
	}
	who, longest := "", time.Duration(0)
	for _, each := range look.tree.living {
		before := d[each.pid]
		if len(before) == 0 {
			continue
		}
		for id, now := range thread.Delays(look.Target.FS(), each.pid, maxWatched) {
			first, known := before[id]
			if !known || now-first <= longest {
				continue
			}
			name := nameOfThread(look.Target.FS(), each.pid, id)
			if look.runtime == target.JVM && thread.IsCompiler(name) {
				continue
			}
			who, longest = whoOf(name, each.Name), now-first
		}
	}
	if elapsed <= 0 {
		return
	}
	found := len(part.Findings)
	thread.FindStarved(part, who, float64(longest)/float64(elapsed))
	if len(part.Findings) > found {
		part.Findings[found].Next = by.next(float64(longest) / float64(elapsed))
	}
}

func nameOfThread(fs target.FS, pid, id int) string {
	status, _ := fs.Status(fmt.Sprintf("%d/task/%d", pid, id))
	return status.Name
}

func whoOf(name, process string) string {
	if name == process || name == "" {
		return "a thread of " + report.Name(process, maxTitle)
	}
	return fmt.Sprintf("thread %s of %s", report.Name(name, maxTitle), report.Name(process, maxTitle))
}
