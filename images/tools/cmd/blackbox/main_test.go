package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/target"
)

// watches names a process in the environment of this test: it is then the program itself, which watches that process.
const watches = "KDEBUG_WATCHES"

func TestMain(m *testing.M) {
	pid, err := strconv.Atoi(os.Getenv(watches))
	if err != nil {
		os.Exit(m.Run())
	}
	runtime.LockOSThread()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	os.Exit(watchProcess(ctx, pid))
}

func watchProcess(ctx context.Context, pid int) int {
	found, err := target.Of(pid)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	settings, err := readSettings(os.Getenv)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	look := &look{
		target: found, self: target.Whoami(), settings: settings, out: os.Stdout, began: time.Now(),
		result: &report.Report{Tool: report.Tool{Name: "blackbox", Version: version}, Target: aboutTarget(found)},
	}
	return look.watch(ctx)
}
