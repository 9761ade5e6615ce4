package tracer

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Wait waits for the end of one of the processes, and gives it when that one is held at that moment; it goes on when this process ends or calls
// LetGo. Fails with ErrGone where it ended without being held, and with ErrOften.
func (w *Watch) Wait() (*Death, error) {
	w.busy.began = time.Now()
	w.asking.open.Store(true)
	defer w.asking.open.Store(false)
	for {
		w.asking.serve()
		news, _, err := await(0, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.ECHILD) {
			return nil, ErrGone
		}
		if err != nil {
			return nil, err
		}
		if news.event == unix.PTRACE_EVENT_EXIT {
			w.relieve(news.tid)
		}
		if w.busy.tooOften(time.Now()) {
			return nil, ErrOften
		}
		if death := w.take(news); death != nil {
			return death, nil
		}
		if len(w.threads) == 0 {
			return nil, ErrGone
		}
	}
}

// relieve calls for relief where the thread was killed.
func (w *Watch) relieve(tid int) {
	message, err := eventMessage(tid)
	if status := unix.WaitStatus(message); err == nil && status.Signaled() && status.Signal() == unix.SIGKILL && w.relief != nil {
		w.relief()
	}
}

// Stops is how often a thread stopped for us so far.
func (w *Watch) Stops() int64 { return w.busy.all }

// take answers one news. It gives the end of the process, which is then held; nil for everything else, which goes on.
func (w *Watch) take(news stop) *Death {
	switch {
	case news.over:
		return w.ended(news)
	case news.isUntraced:
		passOver(news.tid)
	case news.event == unix.PTRACE_EVENT_EXEC:
		w.runs(news.tid)
	case news.event == unix.PTRACE_EVENT_STOP:
		w.stopped(news)
	case news.event == unix.PTRACE_EVENT_EXIT && w.isStarting:
		w.endsStarting(news.tid)
	case news.event == unix.PTRACE_EVENT_EXIT:
		return w.exiting(news.tid)
	case news.event != 0:
		resume(news.tid, 0)
	default:
		return w.signalled(news.tid, news.signal)
	}
	return nil
}

// ended is a thread that has gone, mostly one that was killed twice.
func (w *Watch) ended(news stop) *Death {
	reap(news.tid)
	delete(w.leaving, news.tid)
	pid, known := w.threads[news.tid]
	delete(w.threads, news.tid)
	if !known || news.tid != pid && w.watches(pid) {
		return nil
	}
	return &Death{PID: pid, Thread: news.tid, At: time.Now(), Signal: news.signal, Code: news.code, Unseen: true, Told: w.Told()}
}

// stopped is a new thread, one that was interrupted, or all that a signal like SIGSTOP stopped.
func (w *Watch) stopped(news stop) {
	if stops[news.signal] {
		listen(news.tid)
		return
	}
	if w.threads[news.tid] == 0 {
		pid := w.processOf(news.tid)
		if pid == 0 {
			// A process that began by clone(2) is none of ours.
			detach(news.tid, 0)
			return
		}
		w.threads[news.tid] = pid
		delete(w.leaving, news.tid)
	}
	resume(news.tid, 0)
}

// processOf is the watched process of a thread; 0 for none.
func (w *Watch) processOf(tid int) int {
	for _, pid := range w.pids {
		if isOf(tid, pid) {
			return pid
		}
	}
	return 0
}

// signalled is a signal on its way to a thread.
func (w *Watch) signalled(tid int, signal unix.Signal) *Death {
	if passed[signal] || w.isStarting {
		resume(tid, signal)
		return nil
	}
	seen, err := aboutThread(w.fs, tid)
	if err != nil {
		resume(tid, signal)
		return nil
	}
	info, _ := infoOf(tid)
	info = w.seen(info)
	w.note(tid, info)
	// The kernel lets a container's first process ignore what others send and it does not catch. Its own faults end it, but not while it is traced.
	if seen.handles(signal) && !isForced(seen, info) || seen.isInit && !info.IsFault() {
		resume(tid, signal)
		return nil
	}
	return w.faulted(seen.group, tid, info)
}

// isForced: a fault cannot be ignored. The kernel takes away the handler of one that cannot be called, so that it is not caught any more.
func isForced(seen about, info Info) bool {
	return info.IsFault() && seen.caught>>(info.Signal-1)&1 == 0
}

// passesOn is whether a process sends itself what it was sent: Node.js and many others tidy up, take their handler away and raise the signal again.
func (w *Watch) passesOn(tid int, info Info) bool {
	told := w.Told()
	return told != nil && told.Signal == info.Signal && int(info.Sender) == w.threads[tid]
}

// note remembers who asked the process to end, and that it gave itself up.
func (w *Watch) note(tid int, info Info) {
	switch info.Signal {
	case unix.SIGTERM, unix.SIGINT, unix.SIGQUIT, unix.SIGHUP:
		// Ours asks a JVM for its threads.
		if info.IsSent() && int(info.Sender) != unix.Getpid() && !w.passesOn(tid, info) {
			w.told.Store(&Told{info, time.Now()})
		}
	case unix.SIGABRT:
		w.aborted[tid] = true
	}
}
