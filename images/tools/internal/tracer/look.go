package tracer

import (
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/unwind"
)

// Look stops the threads of a living process for a moment, all of them or those among it, calls see with the registers of those that stopped, and lets them go on. It may be called from
// every goroutine while another is in Wait; see runs on the tracing thread, and no news is answered meanwhile: it must be quick. It gives for how long the
// threads were held. False where the tracing thread had no time, or no thread stopped; see is not called then.
func (w *Watch) Look(pid int, among []int, see func(held map[int]unwind.Registers)) (held time.Duration, seen bool) {
	w.asking.ask(func() {
		began := time.Now()
		seen = w.look(pid, among, see)
		held = time.Since(began)
	}, lookPatience)
	return held, seen
}

const (
	// lookPatience is how long the tracing thread may be busy with other news.
	lookPatience = 500 * time.Millisecond
	// lookHold is how long the threads may take to stop: longer than at an end, because a machine that is short of memory or CPU is what one looks for.
	lookHold = 200 * time.Millisecond
)

func (w *Watch) look(pid int, among []int, see func(held map[int]unwind.Registers)) bool {
	if among == nil {
		among = slices.Collect(maps.Keys(w.threads))
	}
	var waiting []int
	for _, tid := range among {
		if w.threads[tid] == pid && interrupt(tid) == nil {
			waiting = append(waiting, tid)
		}
	}
	moment := &Death{PID: pid, Held: map[int]unwind.Registers{}}
	w.hold(moment, waiting, lookHold)
	if len(moment.Held) > 0 {
		see(moment.Held)
	}
	for tid := range moment.Held {
		w.goOn(tid)
	}
	// One that stops later does so for nothing; Wait lets it go on.
	return len(moment.Held) > 0
}

// goOn answers the stop that we asked for. Any other, of a signal or the end of the thread, is left to Wait.
func (w *Watch) goOn(tid int) {
	news, came, err := await(tid, unix.WNOHANG)
	if err == nil && came && !news.over && news.event == unix.PTRACE_EVENT_STOP {
		w.stopped(news)
	}
}

// hold waits for threads to stop, and reads the registers of all that did.
func (w *Watch) hold(at *Death, waiting []int, patience time.Duration) {
	for until := time.Now().Add(patience); len(waiting) > 0 && time.Now().Before(until); {
		var still []int
		for _, tid := range waiting {
			news, came, err := await(tid, unix.WNOHANG)
			switch {
			case err != nil || came && news.over:
			case came:
				if news.event == unix.PTRACE_EVENT_EXIT {
					w.relieve(tid)
				}
				at.keep(tid)
			default:
				still = append(still, tid)
			}
		}
		if waiting = still; len(waiting) > 0 {
			time.Sleep(200 * time.Microsecond)
		}
	}
}
