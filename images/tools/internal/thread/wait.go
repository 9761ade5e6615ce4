package thread

import (
	"os"
	"strconv"
	"strings"
)

// call is a kind of system call that waits.
type call int

const (
	reads call = iota + 1
	writes
	connects
	accepts
	polls
	selects
	events
	locks
	sleeps
	children
	signals
	syncs
	fileLocks
)

// Words for what the kernel cannot tell apart, or has no better name for.
const (
	wordsLock   = "waiting (idle, or for a lock)"
	wordsEvents = "waiting for events"
	wordsClient = "waiting for a connection"
	wordsTimer  = "sleeping"
	// FileLock is for a file that another process has locked.
	FileLock = "waiting for a lock on a file"
)

// simple are the calls whose arguments say no more.
var simple = map[call]Seen{
	accepts:   {Class: Queue, Words: wordsClient},
	events:    {Class: Queue, Words: wordsEvents},
	locks:     {Class: Lock, Words: wordsLock},
	sleeps:    {Class: Timer, Words: wordsTimer},
	children:  {Class: Other, Words: "waiting for a child process"},
	signals:   {Class: Queue, Words: "waiting for a signal"},
	syncs:     {Class: Other, Words: "waiting for a disk at that moment"},
	fileLocks: {Class: Other, Words: FileLock},
}

// functions are what the kernel's functions mean, by their beginning: for where the system call may not be seen.
var functions = []struct {
	beginning string
	seen      Seen
}{
	{"futex_", simple[locks]},
	{"do_futex", simple[locks]},
	{"ep_poll", simple[events]},
	{"do_epoll_wait", simple[events]},
	{"do_sys_poll", simple[events]},
	{"do_poll", simple[events]},
	{"do_select", simple[events]},
	{"poll_schedule_timeout", simple[events]},
	{"io_cqring_wait", simple[events]},
	{"hrtimer_nanosleep", simple[sleeps]},
	{"do_nanosleep", simple[sleeps]},
	{"inet_csk_accept", simple[accepts]},
	{"wait_woken", Seen{Class: Socket, Words: "reading from a connection"}},
	{"wait_for_packet", Seen{Class: Socket, Words: "reading from a connection"}},
	{"__skb_wait_for_more_packets", Seen{Class: Socket, Words: "reading from a connection"}},
	{"sk_wait_data", Seen{Class: Socket, Words: "reading from a connection"}},
	{"tcp_recvmsg", Seen{Class: Socket, Words: "reading from a connection"}},
	{"unix_stream", Seen{Class: Socket, Words: "reading from a socket of this machine"}},
	{"sk_stream_wait_memory", Seen{Class: Socket, Words: "sending: the other side does not read"}},
	{"inet_wait_for_connect", Seen{Class: Socket, Words: "connecting"}},
	{"inet_stream_connect", Seen{Class: Socket, Words: "connecting"}},
	{"pipe_write", Seen{Class: Other, Words: "writing to a full pipe"}},
	{"anon_pipe_write", Seen{Class: Other, Words: "writing to a full pipe"}},
	{"pipe_wait_writable", Seen{Class: Other, Words: "writing to a full pipe"}},
	{"pipe_", Seen{Class: Other, Words: "reading from a pipe"}},
	{"anon_pipe_", Seen{Class: Other, Words: "reading from a pipe"}},
	{"do_wait", simple[children]},
	{"kernel_wait4", simple[children]},
	{"do_sigtimedwait", simple[signals]},
	{"sigsuspend", simple[signals]},
	{"do_pause", simple[signals]},
	{"do_signal_stop", Seen{Class: Other, Words: "stopped"}},
	{"rpc_", Seen{Class: Other, Words: "waiting for a network file system at that moment"}},
	{"nfs_", Seen{Class: Other, Words: "waiting for a network file system at that moment"}},
	{"folio_wait", simple[syncs]},
	{"io_schedule", simple[syncs]},
	{"jbd2_", simple[syncs]},
}

// waiting puts into seen what a thread that is not busy waits for.
func (w *Watch) waiting(id int, seen *Seen, state byte, stayed bool, files *files) {
	function := text(w.fs.Path(w.pid, "task", strconv.Itoa(id), "wchan"))
	switch state {
	case 0:
		seen.Class, seen.Words = Other, "ended"
	case 'R':
		seen.Class, seen.Words = OnCPU, "running"
	case 'T', 't':
		seen.Class, seen.Words = Other, "stopped"
	case 'Z', 'X':
		seen.Class, seen.Words = Other, "ended"
	case 'D':
		seen.Class, seen.Words = uninterruptible(function, stayed)
	default:
		found := files.wait(text(w.fs.Path(w.pid, "task", strconv.Itoa(id), "syscall")))
		if found.Class == "" {
			found = byFunction(function)
		}
		seen.Class, seen.Peer, seen.Waited, seen.Words = found.Class, found.Peer, found.Waited, found.Words
	}
}

// uninterruptible is a wait that no signal ends. One for a moment is what a healthy program does that writes to a disk.
func uninterruptible(function string, stayed bool) (Class, string) {
	isNetwork := strings.HasPrefix(function, "rpc_") || strings.HasPrefix(function, "nfs_")
	switch {
	case strings.Contains(function, "vfork") || function == "kernel_clone":
		return Other, "waiting for a child process to start"
	case stayed && isNetwork:
		return Disk, "hangs at a network file system"
	case stayed:
		return Disk, "hangs in the kernel, mostly at a disk"
	case isNetwork:
		return Other, "waiting for a network file system at that moment"
	}
	return simple[syncs].Class, simple[syncs].Words
}

func byFunction(function string) Seen {
	for _, each := range functions {
		if strings.HasPrefix(function, each.beginning) {
			return each.seen
		}
	}
	return Seen{Class: Other, Words: "waiting"}
}

func text(path string) string {
	content, _ := os.ReadFile(path)
	return strings.TrimSpace(string(content))
}
