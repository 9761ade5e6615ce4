// Command blackbox waits beside a container for its end and tells, at that moment, how it died: which signal or exit, at which instruction, called from
// where. It is the tracer of the target's processes meanwhile (docs/blackbox.md).
//
// It writes words for people first, then death.txt and stacks.folded, then the report (docs/diagnostic-images.md).
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	limits "kdebug/tools/internal/run"
)

const (
	version        = "0.1.0"
	terminationLog = "/dev/termination-log"
	// garbage keeps what it holds small: it shares the pod's memory with the target for long.
	garbage = 25
)

func main() {
	limits.RefuseWords("blackbox")
	limits.Bound()
	runtime.MemProfileRate = 0
	debug.SetGCPercent(garbage)
	// The thread that seizes the target is the only one that may ask the kernel about it.
	runtime.LockOSThread()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	// By os.Exit: the kernel then lets go of all that is still held, each with the signal that was on its way.
	os.Exit(run(ctx, os.Stdout))
}
