package tracer

import (
	"os"
	"os/signal"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asking is how others let the tracing thread do something: it waits in the kernel, which only a signal ends.
type asking struct {
	thread  int
	pending atomic.Pointer[request]
	// open is whether it waits, so that something may be asked.
	open atomic.Bool
}

type request struct {
	do   func()
	done chan struct{}
}

const (
	// wake is a signal that nobody else uses; Go takes the first ones of this range for nothing.
	wake = unix.Signal(40)
	// wakeAgain is how long after a signal the next is sent: one that comes just before the thread waits is lost.
	wakeAgain = 5 * time.Millisecond
)

// ready lets a signal end the wait of this thread.
func (a *asking) ready() {
	a.thread = unix.Gettid()
	signal.Notify(make(chan os.Signal, 1), wake)
	dontRestart(wake)
}

// ask lets the tracing thread do something, and waits until it has. False where it had no time within patience: then it does not.
func (a *asking) ask(do func(), patience time.Duration) bool {
	asked := &request{do, make(chan struct{})}
	if !a.pending.CompareAndSwap(nil, asked) {
		return false
	}
	for until := time.Now().Add(patience); a.open.Load() && time.Now().Before(until); {
		_ = unix.Tgkill(unix.Getpid(), a.thread, wake)
		select {
		case <-asked.done:
			return true
		case <-time.After(wakeAgain):
		}
	}
	if a.pending.CompareAndSwap(asked, nil) {
		return false
	}
	<-asked.done
	return true
}

// serve does what was asked; only the tracing thread may call it.
func (a *asking) serve() {
	if asked := a.pending.Swap(nil); asked != nil {
		asked.do()
		close(asked.done)
	}
}

// action is the kernel's sigaction.
type action struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

const restarts = 0x10000000 // SA_RESTART

// dontRestart lets a signal end a call of the kernel, where Go lets each go on. Its handler stays Go's.
func dontRestart(of unix.Signal) {
	var now action
	const size = unsafe.Sizeof(now.mask)
	if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(of), 0, uintptr(unsafe.Pointer(&now)), size, 0, 0); errno != 0 {
		return
	}
	now.flags &^= restarts
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(of), uintptr(unsafe.Pointer(&now)), 0, size, 0, 0)
}
