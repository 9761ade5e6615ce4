package main

import (
	"testing"

	"kdebug/tools/internal/target"
)

func TestTheCommandOfAProbeIsNotWatched(t *testing.T) {
	probe := target.Process{PID: 33, Status: target.Status{Name: "runc:[2:INIT]"}, Runtime: target.Go}
	first := target.Process{PID: 1, Status: target.Status{Name: "shop"}, Runtime: target.Native}
	worker := target.Process{PID: 7, Status: target.Status{Name: "python3", Parent: 1}, Runtime: target.Python}
	for want, processes := range map[int][]target.Process{1: {probe, first}, 7: {probe, worker, first}, 33: {probe}} {
		found := &target.Target{First: 1, Process: processes[0], Processes: processes}
		if got := ownProcess(found).PID; got != want {
			t.Errorf("process %d, not %d", got, want)
		}
	}
}
