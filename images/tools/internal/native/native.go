// Package native says what threads of any program wait for, from what the kernel shows, and asks gdb for their stacks.
package native

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/run"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

// GDB is the debugger, where the image has it.
var GDB = "/usr/bin/gdb"

// patience is how long the target may be stopped by gdb.
const patience = 10 * time.Second

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

// Dump gives the threads of a program without a runtime that we know: what each waits for, and its stack where gdb may stop it.
func Dump(ctx context.Context, t *target.Target, self target.Self, sample time.Duration, stop bool) *stack.Dump {
	dump := &stack.Dump{Process: t.Process, Runtime: "native program"}
	if t.Runtime == target.Unknown {
		dump.Runtime = "program of an unknown kind"
	}
	meter := stack.Start(t.FS(), t.PID)
	select {
	case <-ctx.Done():
	case <-time.After(sample):
	}
	dump.Threads = Threads(t.FS(), t.PID)
	var text strings.Builder
	for _, thread := range dump.Threads {
		fmt.Fprintf(&text, "%s (thread %d): %s\n", thread.Name, thread.ID, thread.State)
	}
	lack := t.Attach(self)
	if _, err := os.Stat(GDB); err != nil && lack == nil {
		lack = &target.Lack{Lacks: "stacks: this image has no gdb"}
	}
	switch {
	case lack != nil:
		dump.Lack = lack
	case !stop:
		dump.Notes = append(dump.Notes, "no stacks: gdb stops the program for a moment; ask with STACKS_STOP=yes")
	default:
		within, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		dump.Pause = "gdb stops the program while it reads the stacks"
		out, err := run.Output(within, GDB, "-nx", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off", "-iex", "set sysroot "+t.FS().Path(t.PID, "root"),
			"-ex", "set width 0", "-ex", "set pagination off", "-ex", "thread apply all backtrace 64", "-ex", "detach", "-p", strconv.Itoa(t.PID))
		frames := Parse(string(out))
		if len(frames) == 0 {
			dump.Lack = &target.Lack{Lacks: fmt.Sprintf("stacks: gdb gave none (%v)", err)}
			break
		}
		for index := range dump.Threads {
			dump.Threads[index].Frames = frames[dump.Threads[index].ID]
		}
		text.WriteString("\n")
		text.Write(out)
	}
	dump.Hot = stack.WithShares(dump.Threads, meter.Shares())
	dump.Text = text.String()
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

var (
	threadLine = regexp.MustCompile(`^Thread \d+ \((?:Thread 0x[0-9a-f]+ \()?LWP (\d+)\)?`)
	frameLine  = regexp.MustCompile(`^#\d+\s+(?:0x[0-9a-f]+ in )?(.+?) \(`)
	fromLine   = regexp.MustCompile(` from (\S+)$`)
)

// Parse takes the functions of each thread, the innermost first, out of what gdb wrote.
func Parse(text string) map[int][]string {
	threads, id := map[int][]string{}, 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if found := threadLine.FindStringSubmatch(line); found != nil {
			id, _ = strconv.Atoi(found[1])
		} else if found := frameLine.FindStringSubmatch(line); found != nil && id != 0 {
			name := found[1]
			if library := fromLine.FindStringSubmatch(line); library != nil {
				name += " (" + filepath.Base(library[1]) + ")"
			}
			threads[id] = append(threads[id], name)
		}
	}
	return threads
}
