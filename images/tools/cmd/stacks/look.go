package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"kdebug/tools/internal/cpu"
	"kdebug/tools/internal/gopprof"
	"kdebug/tools/internal/jvm"
	"kdebug/tools/internal/native"
	"kdebug/tools/internal/node"
	"kdebug/tools/internal/python"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

const (
	sample     = 3 * time.Second
	nodeSample = 10 * time.Second
	// maxDumped is how many processes of one container are looked into: a web server has several workers.
	maxDumped = 6
)

// look is one run.
type look struct {
	target   *target.Target
	self     target.Self
	settings settings
	chosen   []target.Process
	dumps    []*stack.Dump
}

// choose takes the processes to look into: all with the runtime of the one that matters most, and of Node.js only the busiest,
// because all of a pod share the inspector's port.
func (l *look) choose() ([]target.Process, error) {
	if l.settings.pid != 0 {
		for _, process := range l.target.Processes {
			if process.PID == l.settings.pid {
				return []target.Process{process}, nil
			}
		}
		return nil, fmt.Errorf("the target has no process %d (STACKS_PID)", l.settings.pid)
	}
	var chosen []target.Process
	for _, process := range l.target.Processes {
		if process.Runtime == l.target.Runtime && len(chosen) < maxDumped {
			chosen = append(chosen, process)
		}
	}
	if l.target.Runtime == target.Node {
		busiest := chosen[0]
		for _, process := range chosen {
			if process.UsedTicks > busiest.UsedTicks {
				busiest = process
			}
		}
		chosen = []target.Process{busiest}
	}
	return chosen, nil
}

// ask looks into all chosen processes at once.
func (l *look) ask(ctx context.Context) {
	l.dumps = make([]*stack.Dump, len(l.chosen))
	var group sync.WaitGroup
	for index, process := range l.chosen {
		group.Go(func() { l.dumps[index] = l.dump(ctx, process) })
	}
	group.Wait()
}

func (l *look) dump(ctx context.Context, process target.Process) *stack.Dump {
	t := l.target.With(process)
	dump := l.dumpOfRuntime(ctx, t)
	// What the kernel shows of each thread, where its runtime tells nothing.
	if len(dump.Threads) == 0 && len(dump.Hot) == 0 {
		meter := stack.Start(t.FS(), process.PID)
		pause(ctx, time.Second)
		dump.Threads = native.Threads(t.FS(), process.PID)
		stack.WithShares(dump.Threads, meter.Shares())
		if dump.Text == "" {
			dump.Text = native.Text(dump.Threads)
		}
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
		return node.Dump(ctx, t, l.self, l.settings.sample(nodeSample))
	case target.Go:
		dump, err := l.goroutines(ctx, t)
		if err == nil {
			return dump
		}
		dump = native.Dump(ctx, t, l.self, l.settings.sample(sample))
		dump.Runtime = "Go " + t.Version
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

// goroutines are those of a program that serves pprof, with samples of where it computes.
func (l *look) goroutines(ctx context.Context, t *target.Target) (*stack.Dump, error) {
	dump, err := gopprof.Goroutines(ctx, t)
	if err != nil {
		return nil, err
	}
	program := *t
	program.Runtime = target.Go
	profile, err := cpu.Record(ctx, &program, l.self, l.settings.sample(sample))
	if err != nil {
		dump.Notes = append(dump.Notes, "no samples of the CPU: "+err.Error())
		return dump, nil
	}
	dump.Hot, dump.HotIsSampled = nil, true
	for _, each := range profile.Stacks {
		frames := slices.Clone(each.Frames)
		slices.Reverse(frames)
		dump.Hot = append(dump.Hot, stack.Sample{Frames: frames, Value: float64(each.Value)})
	}
	return dump, nil
}

func pause(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}
