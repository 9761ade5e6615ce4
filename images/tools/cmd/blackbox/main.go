// Command blackbox waits beside a container for its end and tells, at that moment, how it died: which signal or exit, at which instruction, called from
// where. It is the tracer of the target's processes meanwhile (docs/blackbox.md).
//
// It writes words for people first, then death.txt and stacks.folded, then the report (docs/diagnostic-images.md).
//
// With words it is the first process of another container, whose program it starts and watches: commands.go.
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
	garbage        = 25
)

func main() {
	obey(os.Args[1:])
	limits.WithoutHugePages()
	limits.RefuseWords("blackbox")
	limits.Bound()
	staySmall()
	// The thread that seizes the target is the only one that may ask the kernel about it.
	runtime.LockOSThread()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	// By os.Exit: the kernel then lets go of all that is still held, each with the signal that was on its way.
	os.Exit(run(ctx, os.Stdout))
}

// staySmall keeps what we hold small: we share the pod's memory with the target for long.
func staySmall() {
	runtime.MemProfileRate = 0
	debug.SetGCPercent(garbage)
}
