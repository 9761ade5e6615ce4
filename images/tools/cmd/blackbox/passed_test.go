package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// firstOf is the first process of a container that runs, by its number here.
func (c *container) firstOf(t *testing.T) int {
	t.Helper()
	for until := time.Now().Add(testPatience); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", c.Process.Pid, c.Process.Pid))
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && strings.Contains(commandOf(pid), "once-more") {
			return pid
		}
	}
	t.Fatal("no first process")
	return 0
}

func commandOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(text)
}

func TestSignalsArePassedOn(t *testing.T) {
	for name, each := range map[string]struct {
		signal         string
		program        string
		code           int
		words, finding string
	}{
		"SIGTERM that is followed":  {"TERM", "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done", 0, "ended with exit code 0, 0.", ""},
		"SIGUSR1":                   {"USR1", "trap 'exit 4' USR1; echo up; while :; do sleep 0.05; done", 4, "ended itself with exit code 4", "died_of_exit"},
		"SIGHUP":                    {"HUP", "trap 'exit 5' HUP; echo up; while :; do sleep 0.05; done", 5, "after SIGHUP from outside the container", "died_of_exit"},
		"SIGTERM without a handler": {"TERM", "echo up; sleep 1; exit 6", 6, "ended itself with exit code 6", "died_of_exit"},
	} {
		t.Run(name, func(t *testing.T) {
			run := oncemore(t, "15s", "sh", "-c", each.program)
			out := &lockedBuffer{}
			run.Stdout, run.Stderr = out, out
			if err := run.Start(); err != nil {
				t.Skip(err)
			}
			first := run.firstOf(t)
			for until := time.Now().Add(testPatience); !strings.Contains(out.String(), "up\n") && time.Now().Before(until); {
				time.Sleep(5 * time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
			_ = exec.Command("kill", "-"+each.signal, strconv.Itoa(first)).Run()
			if code := run.isOver(t); code != each.code {
				t.Errorf("exit code %d: %s", code, out.String())
			}
			verdict, found := run.message(t)
			if !strings.Contains(verdict, each.words) || strings.Join(found, " ") != each.finding {
				t.Errorf("%q %q", verdict, found)
			}
		})
	}
}

// As images do that begin as root and drop it; the kernel ends all of them with the first process of their container.
func TestTheTimeEndsWhatNoSignalReaches(t *testing.T) {
	program := "trap '' TERM; sleep 100 & sleep 100"
	run := containWith(t, mayNotKill, filepath.Join(imageOf(t), "blackbox"), "once-more", "--for=1s", "--", "setpriv", "--reuid", "10001", "--clear-groups", "sh", "-c", program)
	run.tells(t, exitOver, "was still running after 1 s and was ended", "")
}
