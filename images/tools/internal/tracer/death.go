package tracer

import (
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/unwind"
)

// Death is the end of a process, at the moment before it is gone.
type Death struct {
	PID int
	// Thread is the one that did it.
	Thread int
	At     time.Time
	// Signal is what ends it, with Info where HasInfo; 0 for an exit with Code.
	Signal  unix.Signal
	Info    Info
	HasInfo bool
	Code    int
	// Aborted is whether the thread sent itself SIGABRT before.
	Aborted bool
	// Told is the last signal that asked it to end; nil for none.
	Told *Told
	// Call is the system call in which the thread is.
	Call Call
	// Held are the threads that are stopped, with their registers; the others run on or are in the kernel.
	Held map[int]unwind.Registers
	// Unseen is whether it was gone before anybody could look.
	Unseen bool

	watch *Watch
}

// patience is how long the other threads may take to stop.
const patience = 40 * time.Millisecond

// faulted is the end of a process by a signal that it does not catch: the thread is held before it.
func (w *Watch) faulted(pid, tid int, info Info) *Death {
	death := &Death{
		PID: pid, Thread: tid, At: time.Now(), Signal: info.Signal, Info: info, HasInfo: true, Aborted: w.aborted[tid], Told: w.Told(),
		Call: CallOf(w.fs, pid, tid), Held: map[int]unwind.Registers{}, watch: w,
	}
	death.keep(tid)
	// At once: should this process be killed, the first process of a container must fail again rather than go on.
	if info.IsFault() {
		again(tid, info)
	}
	for _, other := range living(w.fs, pid, tid) {
		_ = interrupt(other)
	}
	w.holdOthers(death)
	return death
}

// exiting is a thread at its end, and the process with it unless others go on.
func (w *Watch) exiting(tid int) *Death {
	message, err := eventMessage(tid)
	if err != nil {
		resume(tid, 0)
		return nil
	}
	status := unix.WaitStatus(message)
	pid := w.threads[tid]
	if pid == 0 {
		if pid = w.processOf(tid); pid == 0 {
			detach(tid, 0)
			return nil
		}
	}
	call := CallOf(w.fs, pid, tid)
	if number := numberOf(tid); call.Number == NoCall && (number == callExit || number == callExitGroup) {
		// A target that made itself unreadable meanwhile hides it from /proc.
		call.Number = number
	}
	if w.isOnlyThread(pid, tid, call) || message == 0 && w.startsAnother(pid, tid) {
		delete(w.threads, tid)
		detach(tid, 0)
		return nil
	}
	death := &Death{PID: pid, Thread: tid, At: time.Now(), Aborted: len(w.aborted) > 0, Told: w.Told(), Call: call, Held: map[int]unwind.Registers{}, watch: w}
	if status.Signaled() {
		death.Signal = status.Signal()
	} else {
		death.Code = status.ExitStatus()
	}
	death.keep(tid)
	w.holdOthers(death)
	w.blame(death)
	return death
}

// Also is the end of another watched process that was killed together with one whose end Wait gave, held as that is; nil where it does not come soon.
func (w *Watch) Also(pid int) *Death {
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(200 * time.Microsecond) {
		for _, tid := range w.fs.Threads(pid) {
			if news, came, err := await(tid, unix.WNOHANG); err == nil && came && news.event == unix.PTRACE_EVENT_EXIT {
				if death := w.exiting(tid); death != nil {
					return death
				}
			}
		}
	}
	return nil
}

// isOnlyThread is whether a thread ends alone, by exit(2) rather than exit_group(2).
func (w *Watch) isOnlyThread(pid, tid int, call Call) bool {
	if call.Number != callExit {
		return false
	}
	// One that was let go at its end may still be there for a moment: it is no other.
	w.leaving[tid] = true
	return hasOthers(w.fs, pid, w.leaving)
}

// startsAnother is whether a thread of the process runs another program (execve), which ends all others.
func (w *Watch) startsAnother(pid, tid int) bool {
	for _, other := range living(w.fs, pid, tid) {
		if number := CallOf(w.fs, pid, other).Number; number == callExec || number == callExecAt {
			return true
		}
	}
	return false
}

// keep reads the registers of a thread that is stopped.
func (d *Death) keep(tid int) {
	if registers, err := registersOf(tid); err == nil {
		d.Held[tid] = registers
	}
}

// holdOthers waits for the other threads to stop, and reads the registers of all that did.
func (w *Watch) holdOthers(death *Death) {
	w.hold(death, living(w.fs, death.PID, death.Thread), patience)
}

// blame finds the thread that ended the process: the one that asked for it, else the one that was at work.
func (w *Watch) blame(death *Death) {
	if death.Call.Number == callExitGroup || death.Call.Number == callExit {
		return
	}
	working := 0
	for tid := range death.Held {
		call := CallOf(w.fs, death.PID, tid)
		if call.Number == callExitGroup {
			death.Thread, death.Call = tid, call
			return
		}
		if call.Number == NoCall && (working == 0 || tid == death.PID) {
			working = tid
		}
	}
	switch {
	case working != 0:
		death.Thread = working
	case len(death.Held) > 0:
		if _, held := death.Held[death.PID]; held {
			death.Thread = death.PID
		}
	}
	death.Call = CallOf(w.fs, death.PID, death.Thread)
}

// LetGo, which is for those who go on to watch other processes, lets the process end as it would have without us. The thread that failed goes last: it is untraced then, and the same fault, or its signal, ends it.
func (d *Death) LetGo() {
	if d.watch == nil {
		return
	}
	for tid := range d.Held {
		if tid != d.Thread {
			news, came, _ := await(tid, unix.WNOHANG)
			if came {
				detach(tid, signalOf(news))
			}
		}
	}
	signal := unix.Signal(0)
	if d.HasInfo {
		signal = d.Signal
	}
	detach(d.Thread, signal)
	for tid, pid := range d.watch.threads {
		if pid == d.PID {
			delete(d.watch.threads, tid)
		}
	}
}
