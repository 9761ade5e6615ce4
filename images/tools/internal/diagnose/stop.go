package diagnose

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"kdebug/tools/internal/target"
)

// The exit codes of Stop.
const (
	stopped      = 0
	notStopped   = 1
	nothingToEnd = 2
	poll         = 100 * time.Millisecond
	// emptyPasses in a row without a process of the run say that there is none, this long after one another: one that forks and ends again and again
	// is missed by a single pass.
	emptyPasses = 5
	nextPass    = 10 * time.Millisecond
	// killPatience is how long a killed process may take to go, at least.
	killPatience = 5 * time.Second
	// maxStopped is how many processes the sentence names.
	maxStopped = 20
	runLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"
	// maxEnviron bounds what is read of a process' environment.
	maxEnviron = 4 << 20
)

// Stop ends the processes of another run: those whose environment names it. No exec right is needed, because all debug containers of one target share
// its process namespace. Exit code 0: they have ended; 1: could not; 2: there are none.
func Stop(out io.Writer, settings Settings, began time.Time, run string) int {
	end := ending{fs: target.Proc, own: os.Getpid(), grace: settings.Grace, run: run, sleep: time.Sleep, now: time.Now}
	code, sentence := end.end(settings, began)
	fmt.Fprintln(out, sentence)
	if file := (&Look{Settings: settings}).terminationLog(); file != "" {
		_ = os.WriteFile(file, []byte(sentence), 0o600)
	}
	return code
}

// ending is one stop of a run.
type ending struct {
	fs    target.FS
	own   int
	run   string
	grace time.Duration
	sleep func(time.Duration)
	now   func() time.Time
	// unread is how many environments could not be read in the last pass; those of processes that ended meanwhile do not count.
	unread int
	// all are the processes that were signalled, each once, and left those of the last pass that found any.
	all, left []int
}

func (e *ending) end(settings Settings, began time.Time) (int, string) {
	if err := target.CheckNotAfter(began); err != nil {
		if err == target.ErrTooLate {
			return notStopped, "Not stopped: this started too late, after " + settings.NotAfter + "."
		}
		return notStopped, fmt.Sprintf("Not stopped: %v.", err)
	}
	if e.run == "" || strings.Trim(e.run, runLetters) != "" {
		return notStopped, "usage: stop RUN-ID (letters, digits and dashes)"
	}
	if e.run == settings.Run {
		return notStopped, "Not stopped: " + e.run + " is this run itself."
	}
	for _, signal := range []struct {
		number syscall.Signal
		name   string
	}{{syscall.SIGTERM, "TERM"}, {syscall.SIGKILL, "KILL"}} {
		none, refused := e.signal(signal.number)
		switch {
		case refused > 0:
			return notStopped, fmt.Sprintf("Not stopped: process %d of run %s may not be signalled. Use the run's own user.", refused, e.run)
		case none && len(e.all) > 0:
			return stopped, fmt.Sprintf("Stopped run %s with %s: processes%s.", e.run, signal.name, list(e.all))
		case none && e.unread > 0:
			return nothingToEnd, fmt.Sprintf("Nothing to stop: no process of run %s is visible, and %d could not be read. Use the run's own target, user and profile.", e.run, e.unread)
		case none:
			return nothingToEnd, fmt.Sprintf("Nothing to stop: no process of run %s is visible. It has ended, or it has another target.", e.run)
		}
	}
	return notStopped, fmt.Sprintf("Not stopped: the processes of run %s are still there:%s.", e.run, list(e.left))
}

func list(pids []int) string {
	var text strings.Builder
	for _, each := range pids[:min(len(pids), maxStopped)] {
		fmt.Fprintf(&text, " %d", each)
	}
	if more := len(pids) - maxStopped; more > 0 {
		fmt.Fprintf(&text, " and %d more", more)
	}
	return text.String()
}

// signal signals the processes of the run until none is left, or for its patience. It gives whether none is, and the number of a process that may not be
// signalled, or 0.
func (e *ending) signal(number syscall.Signal) (none bool, refused int) {
	latest, signalled := e.now().Add(e.patience(number)), map[int]bool{}
	for empty := 0; ; {
		found, refused := e.pass(number, signalled)
		if refused > 0 {
			return false, refused
		}
		if len(found) > 0 {
			empty, e.left = 0, found
		} else if empty++; empty == emptyPasses {
			return true, 0
		}
		switch {
		case empty > 0:
			e.sleep(nextPass)
		case e.now().After(latest):
			return false, 0
		default:
			e.sleep(poll)
		}
	}
}

// patience is how long a signal is waited for. The grace is a person's choice of the time between the two signals; a kill needs the kernel's time, which
// a busy node makes long.
func (e *ending) patience(number syscall.Signal) time.Duration {
	if number == syscall.SIGKILL {
		return max(e.grace, killPatience)
	}
	return e.grace
}

// pass goes once through all processes, and signals each of the run as soon as it is found, for it may have ended a moment later: never our own nor
// those above us. A process is asked once to end, and killed as often as it is found.
func (e *ending) pass(number syscall.Signal, signalled map[int]bool) (found []int, refused int) {
	e.unread = 0
	pids := e.fs.PIDs()
	// The newest first: it may live for less time than a pass takes.
	slices.Sort(pids)
	for _, pid := range slices.Backward(pids) {
		if e.fs.IsAncestor(pid, e.own) || !e.belongs(pid) {
			continue
		}
		found = append(found, pid)
		if signalled[pid] && number != syscall.SIGKILL {
			continue
		}
		if err := syscall.Kill(pid, number); err != nil && err != syscall.ESRCH && e.belongs(pid) {
			return found, pid
		}
		signalled[pid] = true
		if !slices.Contains(e.all, pid) {
			e.all = append(e.all, pid)
		}
	}
	return found, 0
}

// belongs is whether a process lives and has the run in its environment.
func (e *ending) belongs(pid int) bool {
	status, err := e.fs.Status(fmt.Sprint(pid))
	if err != nil || status.State == 'Z' || status.State == 'X' {
		return false
	}
	text, err := readEnviron(e.fs.Path(pid, "environ"))
	if err != nil {
		if !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ESRCH) {
			e.unread++
		}
		return false
	}
	return slices.ContainsFunc(bytes.Split(text, []byte{0}), func(variable []byte) bool { return string(variable) == "KDEBUG_RUN="+e.run })
}

func readEnviron(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxEnviron))
}
