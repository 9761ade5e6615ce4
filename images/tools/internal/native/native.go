// Package native gives the threads of any program as the kernel shows them, without stopping them.
package native

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// Dump gives the threads of a program whose runtime tells nothing, and what each did for a time. Nothing is stopped.
func Dump(ctx context.Context, t *target.Target, self target.Self, sample time.Duration) *stack.Dump {
	dump := &stack.Dump{Process: t.Process, Runtime: t.Kind(), Lack: t.Blindness(self)}
	watch := thread.Start(t.FS(), t.PID)
	select {
	case <-ctx.Done():
	case <-time.After(sample):
	}
	dump.Threads = Threads(t.FS(), t.PID, watch.Read())
	return dump
}

// Threads are a process' threads with their names, of those that were seen.
func Threads(fs target.FS, pid int, seen map[int]thread.Seen) []stack.Thread {
	var threads []stack.Thread
	for _, id := range fs.Threads(pid) {
		if kernel, known := seen[id]; known {
			name, _ := os.ReadFile(fs.Path(pid, "task", strconv.Itoa(id), "comm"))
			threads = append(threads, stack.Thread{ID: id, Name: strings.TrimSpace(string(name)), Kernel: kernel})
		}
	}
	return threads
}
