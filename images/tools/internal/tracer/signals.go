package tracer

import (
	"golang.org/x/sys/unix"
)

// passed are signals that end nothing: their default is to do nothing, or to stop or continue.
var passed = map[unix.Signal]bool{
	unix.SIGCHLD: true, unix.SIGURG: true, unix.SIGWINCH: true, unix.SIGCONT: true, unix.SIGSTOP: true, unix.SIGTSTP: true, unix.SIGTTIN: true, unix.SIGTTOU: true,
}

// stops are the signals that stop a process, as a group.
var stops = map[unix.Signal]bool{unix.SIGSTOP: true, unix.SIGTSTP: true, unix.SIGTTIN: true, unix.SIGTTOU: true}

// faults are the signals by which the kernel says that an instruction went wrong.
var faults = map[unix.Signal]bool{unix.SIGSEGV: true, unix.SIGBUS: true, unix.SIGILL: true, unix.SIGFPE: true, unix.SIGTRAP: true, unix.SIGSYS: true}

// IsFault is whether the kernel sent the signal for what the thread itself did, rather than somebody by kill(2).
func (i Info) IsFault() bool { return faults[i.Signal] && i.Code > 0 }

// IsSent is whether somebody sent it: then Sender and UID are known. A Sender of 0 is outside of the container.
func (i Info) IsSent() bool { return i.Code <= 0 }
