package thread

import (
	"slices"
	"strings"
	"time"

	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

// FindStarved tells of a thread that was ready to run, and for which part of the time it had no CPU; who begins the sentence.
func FindStarved(part *rules.Part, who string, ready float64) {
	part.Find("waits_for_cpu", 100*ready, "%s was ready to run and had no CPU for %.0f %% of the time", who, 100*ready)
}

// Delays are how long the threads of a process were ready to run and had no CPU, since each began, by its id: of the first so many. A kernel without
// CONFIG_SCHED_INFO does not count it, which looks like none.
func Delays(fs target.FS, pid, most int) map[int]time.Duration {
	threads := fs.Threads(pid)
	delays := map[int]time.Duration{}
	for _, id := range threads[:max(0, min(len(threads), most))] {
		if now, counted := schedstat(fs, pid, id); counted {
			delays[id] = now.waited
		}
	}
	return delays
}

// compilers begin the names of the threads with which a JVM compiles.
var compilers = []string{"C1 ", "C2 ", "JVMCI"}

// IsCompiler is whether a JVM compiles in a thread of that name: that this waits for a CPU is no trouble of the program's.
func IsCompiler(name string) bool {
	return slices.ContainsFunc(compilers, func(beginning string) bool { return strings.HasPrefix(name, beginning) })
}
