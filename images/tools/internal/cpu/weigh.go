package cpu

import (
	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/jfr"
	"kdebug/tools/internal/jvm"
)

// weigh makes CPU time of a JVM's samples: each thread's samples share the CPU time that the kernel counted for it, because the recorder samples
// who is in Java code, computing or not, and no more than five threads at once. The JVM's own threads get frames of their own, the recorder's none.
// It gives the stacks in nanoseconds, and of how many samples they are made.
func weigh(sampled []jfr.Stack, load Load) ([]flame.Stack, int64) {
	counts := map[int]int64{}
	for _, stack := range sampled {
		counts[stack.Thread] += stack.Value
	}
	used := map[int]float64{}
	others := map[string]float64{}
	for _, thread := range load.Threads {
		switch kind := jvm.Kind(thread.Name); {
		case kind == jvm.Collector:
			others[Collector] += thread.Running
		case kind == jvm.Compiler:
			others[Compiler] += thread.Running
		case kind == jvm.Recorder:
		case counts[thread.ID] > 0:
			used[thread.ID] += thread.Running
		case counts[0] > 0:
			// The samples of virtual threads name no thread of the kernel.
			used[0] += thread.Running
		default:
			others[Elsewhere] += thread.Running
		}
	}
	nanoseconds := float64(load.Elapsed.Nanoseconds())
	var stacks []flame.Stack
	samples := int64(0)
	for _, stack := range sampled {
		share := used[stack.Thread] * nanoseconds * float64(stack.Value) / float64(counts[stack.Thread])
		if share < 1 {
			continue
		}
		samples += stack.Value
		stacks = append(stacks, flame.Stack{Frames: stack.Frames, Value: int64(share)})
	}
	for _, name := range []string{Collector, Compiler, Elsewhere} {
		if value := int64(others[name] * nanoseconds); value > 0 {
			stacks = append(stacks, flame.Stack{Frames: []string{name}, Value: value})
		}
	}
	return stacks, samples
}
