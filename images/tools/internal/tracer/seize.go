// Package tracer waits for the death of a process, and holds it at that moment so that others can look. What it must not do is harm: it never kills or
// stops a process for good, not even if it is itself killed at any moment, and a signal that it has seen and not yet passed on is not lost then.
//
// All calls must come from one goroutine that is locked to its thread (runtime.LockOSThread): the kernel lets only the tracing thread in.
package tracer

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/target"
)

// Errors of Seize and Wait.
var (
	// ErrGone: the process had ended before it could be watched.
	ErrGone = errors.New("it has ended before it could be watched")
	// ErrOften: it gets so many signals, or starts so many threads, that to watch it would slow it down.
	ErrOften = errors.New("so many signals or new threads that to watch it would slow it down")
)

// Taken is that another tracer is there already.
type Taken struct {
	PID  int
	Name string
}

func (t *Taken) Error() string {
	if t.Name == "" {
		return fmt.Sprintf("it is already traced by process %d", t.PID)
	}
	return fmt.Sprintf("it is already traced by process %d (%s)", t.PID, report.Name(t.Name, 40))
}

// Watch is processes whose threads are all seized.
type Watch struct {
	fs   target.FS
	pids []int
	// options are those of ptrace for each thread.
	options uintptr
	// isStarting is whether a child has not begun its program yet, and isParent whether the process is our child.
	isStarting, isParent bool
	// threads that are seized, with the process of each.
	threads map[int]int
	// leaving are threads that end, and may still be seen.
	leaving map[int]bool
	busy    meter
	// told is the last SIGTERM or the like that came, and aborted the threads that sent themselves SIGABRT.
	told    atomic.Pointer[Told]
	aborted map[int]bool
	// relief is called first of all when a process was killed: there may be no memory left for anything else.
	relief func()
	asking asking
	// lostRights: see LostRights.
	lostRights bool
}

// Told is a signal that asked the process to end.
type Told struct {
	Info
	At time.Time
}

// Told is the last one that came, to any of the processes; nil for none. It may be asked from everywhere.
func (w *Watch) Told() *Told { return w.told.Load() }

// rounds bounds how often it looks for threads that started meanwhile.
const rounds = 20

// Seize seizes all threads of processes. None of them stops for it. Fails with ErrGone, a *Taken, or the kernel's error; then none is seized.
func Seize(fs target.FS, pids ...int) (*Watch, error) {
	watch := newWatch(fs, pids...)
	if err := watch.seizeAllOrNone(); err != nil {
		return nil, err
	}
	return watch, nil
}

func newWatch(fs target.FS, pids ...int) *Watch {
	return &Watch{fs: fs, pids: pids, options: seizeOptions, threads: map[int]int{}, leaving: map[int]bool{}, aborted: map[int]bool{}}
}

func (w *Watch) seizeAllOrNone() error {
	w.asking.ready()
	for _, pid := range w.pids {
		if err := w.seizeAll(pid); err != nil {
			w.letAllGo()
			return err
		}
	}
	return nil
}

// OnKill sets what is called before anything else when a process is killed: the kernel may have done it because there is no memory, and to open a file
// then takes memory that is not there. It must neither allocate nor wait.
func (w *Watch) OnKill(relief func()) { w.relief = relief }

// seizeAll looks again until there is no new thread: one that a seized thread starts is seized by the kernel.
func (w *Watch) seizeAll(pid int) error {
	for range rounds {
		before := len(w.threads)
		if err := w.seizeNew(pid); err != nil {
			return err
		}
		if len(w.threads) == before {
			break
		}
	}
	if !w.watches(pid) {
		return ErrGone
	}
	return nil
}

func (w *Watch) watches(pid int) bool {
	for _, of := range w.threads {
		if of == pid {
			return true
		}
	}
	return false
}

func (w *Watch) seizeNew(pid int) error {
	for _, tid := range w.fs.Threads(pid) {
		if w.threads[tid] != 0 {
			continue
		}
		err := seize(tid, w.options)
		switch {
		case err == nil:
			w.threads[tid] = pid
		case errors.Is(err, unix.ESRCH), w.isSeizedByClone(tid):
		default:
			return w.why(tid, err)
		}
	}
	return nil
}

// isSeizedByClone is whether a thread that could not be seized is one that the kernel gave us: its news will come.
func (w *Watch) isSeizedByClone(tid int) bool {
	seen, err := aboutThread(w.fs, tid)
	return err != nil || seen.state == 'Z' || seen.tracer != 0 && seen.tracer == unix.Getpid()
}

// why says who else traces it; else the kernel's own error.
func (w *Watch) why(tid int, err error) error {
	seen, failed := aboutThread(w.fs, tid)
	if failed != nil || seen.tracer == 0 {
		return err
	}
	status, _ := w.fs.Status(fmt.Sprint(seen.tracer))
	return &Taken{seen.tracer, status.Name}
}

// Threads is how many threads are watched.
func (w *Watch) Threads() int { return len(w.threads) }

// letAllGo detaches what was seized: for that a thread must stop for a moment. One that does not, because it is in the kernel, goes when this process ends.
func (w *Watch) letAllGo() {
	for tid := range w.threads {
		if interrupt(tid) != nil {
			continue
		}
		for range 200 {
			news, came, err := await(tid, unix.WNOHANG)
			if err != nil {
				break
			}
			if came {
				detach(tid, signalOf(news))
				break
			}
			time.Sleep(time.Millisecond / 2)
		}
	}
}

// signalOf is the signal that a stop is about to deliver.
func signalOf(news stop) unix.Signal {
	if news.over || news.event != 0 {
		return 0
	}
	return news.signal
}
