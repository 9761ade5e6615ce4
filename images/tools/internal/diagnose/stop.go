package diagnose

import (
	"bytes"
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
	runLetters   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-"
	// maxEnviron bounds what is read of a process' environment.
	maxEnviron = 4 << 20
)

// Stop ends the processes of another run: those whose environment names it. No exec right is needed, because all debug containers of one target share
// its process namespace. Exit code 0: they have ended; 1: could not; 2: there are none.
func Stop(out io.Writer, settings Settings, began time.Time, run string) int {
	end := ending{fs: target.Proc, own: os.Getpid(), grace: settings.Grace, run: run}
	code, sentence := end.all(settings, began)
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
	// unread is how many environments could not be read when the run was last looked for.
	unread int
}

func (e *ending) all(settings Settings, began time.Time) (int, string) {
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
	matches := e.matches()
	switch {
	case len(matches) == 0 && e.unread > 0:
		return nothingToEnd, fmt.Sprintf("Nothing to stop: no process of run %s is visible, and %d could not be read. Use the run's own target, user and profile.", e.run, e.unread)
	case len(matches) == 0:
		return nothingToEnd, fmt.Sprintf("Nothing to stop: no process of run %s is visible. It has ended, or it has another target.", e.run)
	}
	all, left := matches, matches
	for _, signal := range []struct {
		number syscall.Signal
		name   string
	}{{syscall.SIGTERM, "TERM"}, {syscall.SIGKILL, "KILL"}} {
		if refused := e.signal(left, signal.number); refused > 0 {
			return notStopped, fmt.Sprintf("Not stopped: process %d of run %s may not be signalled. Use the run's own user.", refused, e.run)
		}
		if left = e.wait(left); len(left) == 0 {
			return stopped, fmt.Sprintf("Stopped run %s with %s: processes%s.", e.run, signal.name, list(all))
		}
	}
	return notStopped, fmt.Sprintf("Not stopped: the processes of run %s are still there:%s.", e.run, list(left))
}

func list(pids []int) string {
	var text strings.Builder
	for _, each := range pids {
		fmt.Fprintf(&text, " %d", each)
	}
	return text.String()
}

// matches are the living processes of the run, never our own nor those above us.
func (e *ending) matches() []int {
	e.unread = 0
	var found []int
	for _, pid := range e.fs.PIDs() {
		if !e.fs.IsAncestor(pid, e.own) && e.belongs(pid) {
			found = append(found, pid)
		}
	}
	return found
}

// belongs is whether a process lives and has the run in its environment.
func (e *ending) belongs(pid int) bool {
	status, err := e.fs.Status(fmt.Sprint(pid))
	if err != nil || status.State == 'Z' || status.State == 'X' {
		return false
	}
	file, err := os.Open(e.fs.Path(pid, "environ"))
	if err != nil {
		e.unread++
		return false
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxEnviron))
	if err != nil {
		e.unread++
		return false
	}
	return slices.ContainsFunc(bytes.Split(text, []byte{0}), func(variable []byte) bool { return string(variable) == "KDEBUG_RUN="+e.run })
}

// signal gives the number of a process that may not be signalled, or 0.
func (e *ending) signal(pids []int, signal syscall.Signal) int {
	for _, pid := range pids {
		if e.belongs(pid) && syscall.Kill(pid, signal) != nil && e.belongs(pid) {
			return pid
		}
	}
	return 0
}

// wait waits until no process of the run is left, at most the grace; it gives those that are.
func (e *ending) wait(pids []int) []int {
	for latest := time.Now().Add(e.grace); ; time.Sleep(poll) {
		pids = slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return !e.belongs(pid) })
		// Those that were started meanwhile belong to it as well.
		if len(pids) == 0 {
			pids = e.matches()
		}
		if len(pids) == 0 || time.Now().After(latest) {
			return pids
		}
	}
}
