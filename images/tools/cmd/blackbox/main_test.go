package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/target"
)

// watches names a process in the environment of this test: it is then the program itself, which watches that process. "7 of 1" is process 7 of a container
// whose first process is 1.
const watches = "KDEBUG_WATCHES"

func TestMain(m *testing.M) {
	word, first, _ := strings.Cut(os.Getenv(watches), " of ")
	pid, err := strconv.Atoi(word)
	if err != nil {
		os.Exit(m.Run())
	}
	runtime.LockOSThread()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	os.Exit(watchProcess(ctx, pid, first))
}

func watchProcess(ctx context.Context, pid int, first string) int {
	found, err := target.Of(pid)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if number, err := strconv.Atoi(first); err == nil {
		found.First = number
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
