// Command profile takes a CPU profile of the process beside it and hands back a flame graph: a diagnostic image of kdebug.
//
// It writes words for people first, then the files, then the report (docs/diagnostic-images.md). Settings: PROFILE_SECONDS, 1 to 60, default 10.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"kdebug/tools/internal/cpu"
	"kdebug/tools/internal/frame"
	"kdebug/tools/internal/jvm"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/room"
	limits "kdebug/tools/internal/run"
	"kdebug/tools/internal/sock"
	"kdebug/tools/internal/sockets"
	"kdebug/tools/internal/target"
)

const (
	terminationLog = "/dev/termination-log"
	version        = "0.1.0"

	defaultSeconds, maxSeconds = 10, 60
	// patience is what a profile may take beyond its length: a JVM on a full machine needs some seconds to begin and to end one.
	patience = 90 * time.Second
)

func main() {
	limits.RefuseWords("profile")
	limits.Bound()
	os.Exit(run())
}

// run gives 0 if it could look, 1 if it was too late or could not write, 2 if a setting is wrong.
func run() int {
	began := time.Now()
	length, err := lengthOf(os.Getenv("PROFILE_SECONDS"))
	if err != nil {
		return end(&report.Report{Verdict: err.Error()}, began, 2)
	}
	found, self, err := target.FindAsItsUser()
	if errors.Is(err, target.ErrNoTarget) {
		return end(noTarget(self, err), began, 0)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, length+patience, errors.New("it took too long"))
	defer cancel()

	found = cpu.Busiest(found, 500*time.Millisecond)
	if slow := room.Slow(ctx, found); slow != "" {
		fmt.Println(slow)
	}
	meter := cpu.Start(found)
	profile, err := cpu.Record(ctx, found, self, length)
	if err != nil {
		// Also where there is no profile, the threads are measured.
		meter.Wait(ctx, min(length, 2*time.Second))
	}
	seen := view{target: found, self: self, profile: profile, err: err, load: meter.Read(), heap: heapOf(ctx, found, self)}
	if profile != nil && profile.Heap != "" {
		seen.heap = profile.Heap
	}
	if profile != nil && profile.Load != nil {
		seen.load = *profile.Load
	}
	if seen.waits = seen.load.Asking; seen.waits == "" {
		seen.waits = waitsOf(found)
	}
	fmt.Print(seen.words())
	for _, file := range seen.files() {
		if err := frame.Write(os.Stdout, file.name, file.content); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return end(seen.report(), began, 0)
}

// waitsOf is for whose answer the program's connections wait, or who waits for its own; "" for nobody.
func waitsOf(found *target.Target) string {
	all, err := sockets.All()
	if err != nil {
		return ""
	}
	return sockets.Waiting(sock.Of(found, all))
}

// heapOf says how full the heap of a JVM is; "" for another, or where it does not say.
func heapOf(ctx context.Context, found *target.Target, self target.Self) string {
	if found.Runtime != target.JVM || jvm.Lack(found, self) != nil {
		return ""
	}
	heap, known := jvm.HeapOf(ctx, found)
	if !known {
		return ""
	}
	return heap.Words()
}

func lengthOf(text string) (time.Duration, error) {
	if text == "" {
		return defaultSeconds * time.Second, nil
	}
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 1 || seconds > maxSeconds {
		return 0, fmt.Errorf("PROFILE_SECONDS must be a whole number from 1 to %d.", maxSeconds)
	}
	return time.Duration(seconds) * time.Second, nil
}

func end(result *report.Report, began time.Time, code int) int {
	result.Tool.Name, result.Tool.Version = "profile", version
	result.Cost = report.CostSince(began)
	if err := result.Write(os.Stdout, terminationLog); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
