// Package native gives the threads of any program as the kernel shows them, without stopping them.
package native

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/run"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

// Dump gives the threads of a program whose runtime tells nothing, after a time in which whoever asks watches what the kernel shows of them
// (thread.Watch). Nothing is stopped.
func Dump(ctx context.Context, t *target.Target, self target.Self, sample time.Duration) *stack.Dump {
	dump := &stack.Dump{Process: t.Process, Runtime: t.Kind(), Lack: t.Blindness(self)}
	run.Pause(ctx, sample)
	for _, id := range t.Threads(t.PID) {
		name, _ := os.ReadFile(t.FS().Path(t.PID, "task", strconv.Itoa(id), "comm"))
		dump.Threads = append(dump.Threads, stack.Thread{ID: id, Name: strings.TrimSpace(string(name))})
	}
	return dump
}
