package diagnose

import (
	"fmt"
	"strings"

	"kdebug/tools/internal/rules"
)

// runtimeSection holds what the target's runtimes were told to use against what the container may use.
type runtimeSection struct{}

func (s *runtimeSection) begin(*Look) {}

func (s *runtimeSection) end(look *Look) *rules.Part {
	part := rules.NewPart("runtime")
	text := tellSizes(part, look.environment.sizes, look.memoryLimit, look.cpuLimit)
	scope := ""
	if look.Target.Yama > 0 {
		scope = fmt.Sprintf("; ptrace_scope of Yama is %d", look.Target.Yama)
	}
	part.Say("the target's code runs in: %s%s", look.runtime, scope)
	if !look.Target.Readable {
		return look.blind(part, "only the command line is readable: "+text)
	}
	part.Section.Text = text
	return part
}

// tellSizes finds the sizes that do not fit the limits, in bytes and millicores and 0 where there is none, and says all of them.
func tellSizes(part *rules.Part, sized sizes, memoryLimit, cpuLimit int64) string {
	var said []string
	say := func(text string) { said = append(said, text) }
	share := func(code, name, how string, percent int64) {
		if percent == 0 {
			return
		}
		say(fmt.Sprintf("%s %d%% of the limit", name, percent))
		if memoryLimit > 0 && code != "" {
			part.Find(code, float64(percent), "the %s may grow to %d%% of the memory limit (%s)", name, percent, how)
		}
	}
	heap := func(code, name string, bytes int64) {
		switch {
		case bytes == 0:
			return
		case memoryLimit == 0:
			say(fmt.Sprintf("%s %d MiB, no memory limit known", name, bytes/mib))
			return
		}
		percent := bytes * 100 / memoryLimit
		say(fmt.Sprintf("%s %d MiB, %d%% of the limit", name, bytes/mib, percent))
		if code != "" {
			part.Find(code, float64(percent), "%s of %d MiB is %d%% of the memory limit (%d MiB)", name, bytes/mib, percent, memoryLimit/mib)
		}
	}
	heap("jvm_heap", "JVM heap", sized.jvmBytes)
	share("jvm_heap", "JVM heap", "MaxRAMPercentage", sized.jvmPercent)
	heap("node_heap", "Node.js heap", sized.nodeBytes)
	heap("go_memory_limit", "GOMEMLIMIT", sized.goBytes)
	heap("", ".NET heap", sized.dotnetBytes)
	share("", ".NET heap", "GCHeapHardLimitPercent", sized.dotnetPercent)
	if sized.goProcs > 0 {
		say(fmt.Sprintf("GOMAXPROCS %d", sized.goProcs))
		if cpuLimit > 0 {
			processors := (cpuLimit + 999) / 1000
			part.Find("go_max_procs", float64(sized.goProcs*100/processors), "GOMAXPROCS is %d and the CPU limit %d millicores", sized.goProcs, cpuLimit)
		}
	}
	if len(said) == 0 {
		return "no flag or variable that sizes a JVM, Node.js, Go or .NET"
	}
	return strings.Join(said, "; ")
}
