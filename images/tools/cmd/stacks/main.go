// Command stacks says what the threads of a container do, from an ephemeral container beside it, as the target's own user: it finds
// the runtime (JVM, Python, Node.js, Go, other) and asks it in the way that harms least. docs/diagnostic-images.md describes what it
// reads and writes.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"kdebug/tools/internal/frame"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/room"
	"kdebug/tools/internal/rules"
	limits "kdebug/tools/internal/run"
	"kdebug/tools/internal/target"
)

const (
	version        = "0.1.0"
	terminationLog = "/dev/termination-log"
	// limit ends a run that hangs.
	limit = 150 * time.Second
)

func main() {
	limits.RefuseWords("stacks")
	limits.Bound()
	// TERM ends the work, not the tidying: an inspector that was opened is closed.
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	ctx, stop := context.WithTimeout(ctx, limit)
	code := run(ctx, os.Stdout)
	stop()
	cancel()
	os.Exit(code)
}

// run looks, and returns the exit code: 0 if it could look, whatever it found.
func run(ctx context.Context, out io.Writer) int {
	began := time.Now()
	result := limits.Begin("stacks", version)
	settings, err := readSettings(os.Getenv)
	if err != nil {
		return giveUp(out, result, "Could not look: "+err.Error()+".", 1)
	}
	found, why, code := limits.Find(result, "stacks")
	if found == nil {
		return giveUp(out, result, why, code)
	}
	found = found.Become()
	if slow := room.Slow(ctx, found); slow != "" {
		fmt.Fprintln(out, slow)
	}
	result.Target = &report.Target{
		Effective: true, PID: found.First, UID: report.ID(found.UID), GID: report.ID(found.GID), Name: found.Name, Capabilities: target.Capabilities(found.Permitted),
		Runtime: string(found.Runtime),
	}
	look := &look{target: found, self: target.Whoami(), settings: settings}
	if err = look.choose(ctx); err != nil {
		return giveUp(out, result, "Could not look: "+err.Error()+".", 1)
	}
	look.ask(ctx)
	for _, part := range look.parts() {
		result.Findings = append(result.Findings, part.Findings...)
		result.Sections = append(result.Sections, part.Section)
	}
	rules.Sort(result.Findings)
	result.Verdict, result.Unsure = look.verdict(result.Findings), look.isUnsure()
	result.Cost = report.CostSince(began)
	result.SampleSeconds = time.Since(began).Round(100 * time.Millisecond).Seconds()
	head(out, result)
	look.tell(out)
	fmt.Fprintf(out, "\nThis look took %d ms, %d ms of CPU and %.1f MiB of memory.\n", result.Cost.Milliseconds, result.Cost.CPUMilliseconds, float64(result.Cost.MemoryBytes)/(1<<20))
	for _, file := range look.files() {
		if err := frame.Write(out, file.Name, file.Content); err != nil {
			return 1
		}
	}
	if err := result.Write(out, terminationLog); err != nil {
		return 1
	}
	return 0
}

func head(out io.Writer, result *report.Report) {
	fmt.Fprintf(out, "%s\n%s\n", limits.Heading("stacks", time.Now()), result.Verdict)
}

// giveUp reports that nothing was looked at, and why.
func giveUp(out io.Writer, result *report.Report, verdict string, code int) int {
	result.Verdict = report.Line(verdict, 300)
	head(out, result)
	if err := result.Write(out, terminationLog); err != nil {
		return 1
	}
	return code
}
