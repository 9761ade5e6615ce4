package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/jvm"
	"kdebug/tools/internal/native"
	"kdebug/tools/internal/node"
	"kdebug/tools/internal/python"
	limits "kdebug/tools/internal/run"
	"kdebug/tools/internal/sock"
	"kdebug/tools/internal/sockets"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

const (
	sample     = 3 * time.Second
	nodeSample = 10 * time.Second
	// maxDumped is how many processes of one container are asked for their stacks, and told one by one: a web server has several workers.
	maxDumped = 6
	// hangs is from which time on a wait in the kernel is no moment of a healthy program.
	hangs = time.Second
)

// look is one run.
type look struct {
	target   *target.Target
	self     target.Self
	settings settings
	// chosen are the processes whose runtime is asked, beside all others, which are seen from outside only.
	chosen, beside []target.Process
	dumps, others  []*stack.Dump
	// titles are what the processes said of themselves at the beginning.
	titles  map[int]string
	sockets []sockets.Socket
	// unreachable is what sockets.Unreachable says of the target.
	unreachable string
	// memory is what the container used before the look.
	memory cgroup.Memory
	// attempts are those to connect while it looked.
	attempts sockets.View
}

// hasStacks is whether a process of that runtime can be asked for its stacks.
func hasStacks(runtime target.Runtime) bool {
	switch runtime {
	case target.JVM, target.Python, target.Node, target.Go:
		return true
	}
	return false
}

// choose takes the processes to ask: those with the runtime of the one that matters most, the busiest first where they are many, and of Node.js
// only the busiest, because all of a pod share the inspector's port. A program without stacks costs little: then it is all of that kind.
func (l *look) choose(ctx context.Context) error {
	l.titles = map[int]string{}
	for _, process := range l.target.Processes {
		l.titles[process.PID] = process.Title()
	}
	if l.settings.pid != 0 {
		for _, process := range l.target.Processes {
			if process.PID == l.settings.pid {
				l.chosen = []target.Process{process}
				return nil
			}
		}
		return fmt.Errorf("the target has no process %d (STACKS_PID)", l.settings.pid)
	}
	for _, process := range l.target.Processes {
		if process.Runtime == l.target.Runtime {
			l.chosen = append(l.chosen, process)
		} else {
			l.beside = append(l.beside, process)
		}
	}
	most := maxDumped
	if l.target.Runtime == target.Node {
		most = 1
	}
	if len(l.chosen) > most && hasStacks(l.target.Runtime) {
		l.busiestFirst(ctx)
		l.beside = append(l.beside, l.chosen[most:]...)
		l.chosen = l.chosen[:most]
	}
	return nil
}

// busiestFirst sorts the chosen processes by the CPU that they use within a second, and then by what they have used.
func (l *look) busiestFirst(ctx context.Context) {
	used := map[int]int64{}
	ticks := func(process target.Process) int64 {
		now, _, _ := l.target.FS().Times(fmt.Sprint(process.PID))
		return now
	}
	for _, process := range l.chosen {
		used[process.PID] = -ticks(process)
	}
	limits.Pause(ctx, time.Second)
	for _, process := range l.chosen {
		used[process.PID] += ticks(process)
	}
	slices.SortStableFunc(l.chosen, func(a, b target.Process) int {
		if more := used[b.PID] - used[a.PID]; more != 0 {
			return int(more)
		}
		return int(b.UsedTicks - a.UsedTicks)
	})
}

// ask looks into all chosen processes at once, and at the others from outside meanwhile.
func (l *look) ask(ctx context.Context) {
	l.memory = cgroup.Of(l.target).ReadMemory()
	before, watch := sockets.Count(), sockets.WatchFailed()
	l.dumps, l.others = make([]*stack.Dump, len(l.chosen)), make([]*stack.Dump, len(l.beside))
	var group sync.WaitGroup
	for index, process := range l.chosen {
		group.Go(func() { l.dumps[index] = l.dump(ctx, process) })
	}
	for index, process := range l.beside {
		group.Go(func() {
			t := l.target.With(process)
			l.others[index] = measured(ctx, t, func() *stack.Dump { return native.Dump(ctx, t, l.self, l.settings.sample(sample)) })
		})
	}
	group.Wait()
	all, _ := sockets.All()
	// Its own alone: who else of the pod waits, as a client of its port, is no cause.
	l.sockets = sock.Of(l.target, all)
	l.unreachable = sockets.Unreachable(all, l.sockets)
	counted := sockets.Count().Since(before)
	// Its own questions go to ports that listen, so they are not refused. Resets are no matter of threads.
	l.attempts = sockets.View{Sample: sockets.Counters{Opened: counted.Opened, Failed: counted.Failed, SixOut: counted.SixOut}, Failed: watch.Stop()}
}

func (l *look) dump(ctx context.Context, process target.Process) *stack.Dump {
	t := l.target.With(process)
	return measured(ctx, t, func() *stack.Dump {
		dump := l.dumpOfRuntime(ctx, t)
		// What the kernel shows of each thread, where its runtime tells nothing.
		if len(dump.Threads) == 0 && len(dump.Hot) == 0 {
			outside := native.Dump(ctx, t, l.self, hangs)
			dump.Threads = outside.Threads
		}
		return dump
	})
}

// measured takes a dump, and puts to its threads what the kernel showed of them from its beginning to its end.
func measured(ctx context.Context, t *target.Target, take func() *stack.Dump) *stack.Dump {
	watch := thread.Start(t.FS(), t.PID)
	dump := take()
	watch.Wait(ctx, thread.Least)
	seen := watch.Read()
	alive := 0.0
	for id, each := range seen {
		alive += each.Running
		dump.Busy += each.Busy()
		if dump.HotIsSampled && t.Runtime == target.Node && id != t.PID && each.Busy() > alwaysBusy {
			dump.Beside = append(dump.Beside, stack.Thread{ID: id, Kernel: each})
		}
	}
	// Threads that ended meanwhile computed too.
	dump.Cores = max(alive, watch.Cores())
	dump.Busy += dump.Cores - alive
	for index := range dump.Threads {
		each := &dump.Threads[index]
		if each.ID != 0 && each.Kernel.Class == "" {
			each.Kernel = seen[each.ID]
		}
	}
	if dump.Text == "" {
		dump.Text = stack.Text(dump.Threads)
	}
	return dump
}

func (l *look) dumpOfRuntime(ctx context.Context, t *target.Target) *stack.Dump {
	switch t.Runtime {
	case target.JVM:
		return jvm.Dump(ctx, t, l.self, jvm.Settings{Sample: l.settings.sample(sample), Histogram: l.settings.histogram, ToItsLog: l.settings.toItsLog})
	case target.Python:
		return python.Dump(ctx, t, l.self, l.settings.sample(sample))
	case target.Node:
		length := l.settings.sample(nodeSample)
		dump := node.Dump(ctx, t, l.self, length)
		// V8 is asked for a thousand samples a second.
		dump.Samples = int(busyShare(dump.Hot) * 1000 * length.Seconds())
		return dump
	case target.Go:
		dump, err := l.goroutines(ctx, t)
		if err == nil {
			return dump
		}
		dump = native.Dump(ctx, t, l.self, l.settings.sample(sample))
		dump.Lack = &target.Lack{Lacks: err.Error()}
		return dump
	case target.Unknown:
		// A Go program that we may not look into still answers at its pprof.
		if dump, err := l.goroutines(ctx, t); err == nil {
			return dump
		}
	}
	return native.Dump(ctx, t, l.self, l.settings.sample(sample))
}
