package cpu

import (
	"testing"
	"time"

	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/jfr"
	"kdebug/tools/internal/target"
)

func sampled(thread int, value int64, frames ...string) jfr.Stack {
	return jfr.Stack{Stack: flame.Stack{Frames: frames, Value: value}, Thread: thread}
}

// A worker that waits in native code is sampled as one that runs, and the collector is not sampled at all.
func TestSamplesOfAJVMAreWeighedByTheCPUOfTheirThread(t *testing.T) {
	load := Load{Used: 0.9, Elapsed: 10 * time.Second, Threads: []Usage{{ID: 2, Name: "VM Thread", Running: 0.71}, {ID: 7, Name: "http-1", Running: 0.1}, {ID: 9, Name: "zip", Running: 0.06}, {ID: 3, Name: "C2 CompilerThre", Running: 0.03}}}
	stacks, samples := weigh([]jfr.Stack{sampled(7, 9, "run", "get"), sampled(7, 1, "run", "put"), sampled(8, 500, "run", "EPoll.wait")}, load)
	values := map[string]int64{}
	for _, stack := range stacks {
		values[stack.Frames[len(stack.Frames)-1]] = stack.Value / 1e6
	}
	if samples != 10 || values["get"] != 900 || values["put"] != 100 || values[Collector] != 7100 || values[Compiler] != 300 || values[Elsewhere] != 600 || len(values) != 5 {
		t.Errorf("%d samples: %v", samples, values)
	}
}

func TestSamplesOfVirtualThreadsShareWhatIsLeft(t *testing.T) {
	load := Load{Elapsed: time.Second, Threads: []Usage{{ID: 7, Name: "ForkJoinPool-1-", Running: 0.5}, {ID: 8, Name: "main", Running: 0.1}}}
	stacks, samples := weigh([]jfr.Stack{sampled(0, 50, "serve"), sampled(8, 10, "main")}, load)
	if samples != 60 || len(stacks) != 2 || stacks[0].Value != 500e6 || stacks[1].Value != 100e6 {
		t.Errorf("%d %+v", samples, stacks)
	}
}

func TestTheCollectorOfGoIsReadFromTheProfile(t *testing.T) {
	stack := func(value int64, frames ...string) flame.Stack { return flame.Stack{Frames: frames, Value: value} }
	got := collecting([]flame.Stack{stack(60, "main.main", "main.work"), stack(10, "main.main", "runtime.mallocgc", "runtime.gcAssistAlloc"), stack(20, "runtime.gcBgMarkWorker", "runtime.systemstack"),
		stack(10, "runtime.gcBgMarkWorker", "runtime.gcDrainMarkWorkerIdle")})
	if got != 0.3 {
		t.Errorf("%f", got)
	}
}

// A master process waits for its workers, and what they are written in decides little.
func TestTheProcessThatUsesTheCPUIsChosen(t *testing.T) {
	process := func(pid int, runtime target.Runtime) target.Process {
		return target.Process{PID: pid, Runtime: runtime}
	}
	for name, each := range map[string]struct {
		processes []target.Process
		used      map[int]int64
		want      int
	}{
		"a backend of PostgreSQL":              {[]target.Process{process(1, target.Native), process(2, target.Native), process(3, target.Native)}, map[int]int64{3: 30}, 3},
		"a worker of gunicorn":                 {[]target.Process{process(1, target.Python), process(2, target.Python)}, map[int]int64{1: 1, 2: 9}, 2},
		"nothing computes":                     {[]target.Process{process(1, target.Python), process(2, target.Python)}, nil, 1},
		"a program under a busy shell":         {[]target.Process{process(2, target.JVM), process(1, target.Native)}, map[int]int64{1: 20, 2: 15}, 2},
		"a native worker of an idle Python":    {[]target.Process{process(2, target.Python), process(1, target.Native)}, map[int]int64{1: 40, 2: 1}, 1},
		"an idle Python and a shell that woke": {[]target.Process{process(2, target.Python), process(1, target.Native)}, map[int]int64{1: 1}, 2},
	} {
		if got := busiest(each.processes, each.processes[0], each.used); got.PID != each.want {
			t.Errorf("%s: %d", name, got.PID)
		}
	}
}
