package tracer

import (
	"golang.org/x/sys/unix"

	"kdebug/tools/internal/target"
)

// SeizeStart is Seize for a child of ours that is about to run another program in its own place (execve). Until it has, the end of none of its threads is a
// death; where it never does, Wait gives its end as one that is Unseen, and HasStarted is false. Signals that this process sends it count as sent from
// outside the container.
func SeizeStart(fs target.FS, pid int) (*Watch, error) {
	watch := newWatch(fs, pid)
	watch.options |= unix.PTRACE_O_TRACEEXEC
	watch.isStarting, watch.isParent = true, true
	if err := watch.seizeAllOrNone(); err != nil {
		return nil, err
	}
	return watch, nil
}

// HasStarted is whether the child runs its program. Only who calls Wait may ask.
func (w *Watch) HasStarted() bool { return !w.isStarting }

// LetAllGo ends the watch: each thread goes on untraced. One that does not stop in time goes when NextEnd meets it, or this process ends.
func (w *Watch) LetAllGo() { w.letAllGo() }

// runs is a process that runs another program now: its other threads are gone.
func (w *Watch) runs(pid int) {
	w.isStarting = false
	for tid, of := range w.threads {
		if of == pid {
			delete(w.threads, tid)
		}
	}
	w.threads[pid] = pid
	w.noteRights(pid)
	resume(pid, 0)
}

// endsStarting is a thread that ends while the child has not begun the program.
func (w *Watch) endsStarting(tid int) {
	if w.threads[tid] != tid {
		delete(w.threads, tid)
	}
	detach(tid, 0)
}

// seen is a signal as its receiver should see it: what we send a child comes from outside the container.
func (w *Watch) seen(info Info) Info {
	if w.isParent && info.IsSent() && int(info.Sender) == unix.Getpid() {
		info.Sender = 0
	}
	return info
}
