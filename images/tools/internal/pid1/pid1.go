// Package pid1 is what the first process of a container does for the others.
package pid1

import (
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/target"
)

// Is is whether this process is the first of its process namespace: only then a signal to all reaches none but those of its container.
func Is() bool { return os.Getpid() == 1 }

// RemoveProgram removes the file that this process was started from: it goes on without. False where it stays, as in a folder with the sticky bit that
// belongs to another user.
func RemoveProgram() bool {
	path, err := os.Readlink("/proc/self/exe")
	return err == nil && strings.HasPrefix(path, "/") && os.Remove(path) == nil
}

// Outlast ignores the signals of limits, which a program of the same user may set for us (prlimit): what goes beyond them is to fail, not to end us.
// Only for behind the start of the program, which would inherit it.
func Outlast() { signal.Ignore(syscall.SIGXFSZ, syscall.SIGXCPU) }

// Seal keeps others of the same user from reading and writing our memory. Our children are not sealed once they run a program.
func Seal() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// Signals are those that somebody sends to us and that are meant for the program; they are kept from now on.
func Signals() <-chan os.Signal {
	came := make(chan os.Signal, 64)
	signal.Notify(came, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT)
	return came
}

// PassOn passes signals on to a process, for ever: those that would do something to it, were it the first of its container. Of a signal that such a one does
// not handle, the kernel lets nothing come.
func PassOn(came <-chan os.Signal, pid int) {
	for each := range came {
		number, is := each.(syscall.Signal)
		if !is {
			continue
		}
		status, err := target.Proc.Status(strconv.Itoa(pid))
		if err == nil && (status.Catches(number) || number == syscall.SIGCONT) {
			_ = syscall.Kill(pid, number)
		}
	}
}

// KillOthers kills all other processes of our namespace. False where there is none any more.
func KillOthers() bool { return Is() && syscall.Kill(-1, syscall.SIGKILL) == nil }

// EndOthers kills all others, calls reap until that has taken those that are ours, and says whether none is left within patience.
func EndOthers(reap func(), patience time.Duration) bool {
	for until := time.Now().Add(patience); KillOthers(); {
		if time.Now().After(until) {
			return false
		}
		reap()
		time.Sleep(time.Millisecond)
	}
	return true
}
