// Package native says what threads of any program wait for, from what the kernel shows, without stopping them.
package native

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

// waits are what the kernel's functions mean, by their beginning.
var waits = []struct{ function, words string }{
	{"futex_", "waiting for a lock"},
	{"do_futex", "waiting for a lock"},
	{"ep_poll", "waiting for events"},
	{"do_epoll_wait", "waiting for events"},
	{"do_sys_poll", "waiting for events"},
	{"do_poll", "waiting for events"},
	{"do_select", "waiting for events"},
	{"poll_schedule_timeout", "waiting for events"},
	{"io_cqring_wait", "waiting for events"},
	{"hrtimer_nanosleep", "sleeping"},
	{"do_nanosleep", "sleeping"},
	{"inet_csk_accept", "waiting for a connection"},
	{"wait_for_packet", "receiving"},
	{"__skb_wait_for_more_packets", "receiving"},
	{"sk_wait_data", "receiving"},
	{"tcp_recvmsg", "receiving"},
	{"unix_stream", "receiving"},
	{"sk_stream_wait_memory", "sending: the other side does not read"},
	{"inet_wait_for_connect", "connecting"},
	{"inet_stream_connect", "connecting"},
	{"pipe_read", "reading a pipe"},
	{"anon_pipe_read", "reading a pipe"},
	{"pipe_wait_readable", "reading a pipe"},
	{"pipe_write", "writing to a full pipe"},
	{"anon_pipe_write", "writing to a full pipe"},
	{"pipe_wait_writable", "writing to a full pipe"},
	{"do_wait", "waiting for a child"},
	{"kernel_wait4", "waiting for a child"},
	{"do_sigtimedwait", "waiting for a signal"},
	{"sigsuspend", "waiting for a signal"},
	{"do_pause", "waiting for a signal"},
	{"rpc_", "waiting for a network file system"},
	{"nfs_", "waiting for a network file system"},
	{"folio_wait", "waiting for a disk"},
	{"io_schedule", "waiting for a disk"},
	{"jbd2_", "waiting for a disk"},
}

// Wait says what a thread does: "running", or what it waits for in words, and the kernel's function where it may be seen.
func Wait(fs target.FS, pid, thread int) (words, function string) {
	status, err := fs.Status(fmt.Sprintf("%d/task/%d", pid, thread))
	if err != nil {
		return "gone", ""
	}
	text, _ := os.ReadFile(fs.Path(pid, "task", strconv.Itoa(thread), "wchan"))
	function = strings.TrimSpace(string(text))
	if function == "0" {
		function = ""
	}
	switch status.State {
	case 'R':
		return "running", ""
	case 'D':
		return "stuck in the kernel", function
	case 'T', 't':
		return "stopped", function
	case 'Z', 'X':
		return "ended", function
	}
	for _, wait := range waits {
		if strings.HasPrefix(function, wait.function) {
			return wait.words, function
		}
	}
	if function != "" {
		return "waiting in " + function, function
	}
	return "waiting", ""
}

// Dump gives the threads of a program whose runtime tells nothing: what each waits for in the kernel, and the CPU it uses. Nothing is stopped.
func Dump(ctx context.Context, t *target.Target, self target.Self, sample time.Duration) *stack.Dump {
	dump := &stack.Dump{Process: t.Process, Runtime: "native program", Lack: t.Blindness(self)}
	if t.Runtime == target.Unknown {
		dump.Runtime = "program of an unknown kind"
	}
	meter := stack.Start(t.FS(), t.PID)
	select {
	case <-ctx.Done():
	case <-time.After(sample):
	}
	dump.Threads = Threads(t.FS(), t.PID)
	dump.Hot = stack.WithShares(dump.Threads, meter.Shares())
	dump.Text = Text(dump.Threads)
	return dump
}

// Threads are a process' threads with what each waits for.
func Threads(fs target.FS, pid int) []stack.Thread {
	var threads []stack.Thread
	for _, id := range fs.Threads(pid) {
		name, _ := os.ReadFile(filepath.Join(fs.Path(pid, "task", strconv.Itoa(id)), "comm"))
		words, function := Wait(fs, pid, id)
		thread := stack.Thread{ID: id, Name: strings.TrimSpace(string(name)), State: words}
		if function != "" {
			thread.Frames = []string{"[" + function + "]"}
		}
		threads = append(threads, thread)
	}
	return threads
}

// Text is a line for each thread.
func Text(threads []stack.Thread) string {
	var text strings.Builder
	for _, thread := range threads {
		fmt.Fprintf(&text, "%s (thread %d): %s\n", report.Line(thread.Name, 40), thread.ID, thread.State)
	}
	return text.String()
}
