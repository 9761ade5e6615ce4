package main

import (
	"context"
	"slices"
	"time"

	"kdebug/tools/internal/cpu"
	"kdebug/tools/internal/gopprof"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// goroutines are those of a program that serves pprof, with samples of where it computes, and how long they did not move meanwhile.
func (l *look) goroutines(ctx context.Context, t *target.Target) (*stack.Dump, error) {
	began := time.Now()
	before, err := gopprof.Goroutines(ctx, t)
	if err != nil {
		return nil, err
	}
	program := *t
	program.Runtime = target.Go
	profile, failed := cpu.Record(ctx, &program, l.self, l.settings.sample(sample))
	dump, err := gopprof.Goroutines(ctx, t)
	if err != nil {
		dump = before
	} else {
		markStill(dump.Threads, before.Threads, time.Since(began))
		dump.Pause = "all goroutines stopped for the moments of two dumps"
	}
	if failed != nil {
		dump.Notes = append(dump.Notes, "no samples of the CPU: "+failed.Error())
		return dump, nil
	}
	dump.Hot, dump.HotIsSampled = nil, true
	for _, each := range profile.Stacks {
		frames := slices.Clone(each.Frames)
		slices.Reverse(frames)
		dump.Hot = append(dump.Hot, stack.Sample{Frames: frames, Value: float64(each.Value)})
	}
	dump.Samples, dump.Collecting = int(profile.Samples), profile.Collecting
	return dump, nil
}

// markStill gives goroutines that were at the same place in two dumps the time between: Go itself counts minutes only. One that ran both times
// is marked as on CPU.
func markStill(now, before []stack.Thread, passed time.Duration) {
	places := map[string]stack.Thread{}
	for _, each := range before {
		places[each.Name] = each
	}
	for index := range now {
		each := &now[index]
		first, known := places[each.Name]
		switch {
		case !known:
		case runs(first) && runs(*each) && each.Own != "":
			each.Kernel.Class, each.Kernel.Words = thread.OnCPU, "computing"
		case !runs(*each) && slices.Equal(first.Frames, each.Frames):
			each.Kernel.Waited = passed
		}
	}
}

func runs(goroutine stack.Thread) bool {
	return goroutine.State == "running" || goroutine.State == "runnable"
}
