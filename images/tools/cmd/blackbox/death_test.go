package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// end lets a victim end untraced, and one under watch; it fails unless both end in the same way.
func end(t *testing.T, isFirst bool, command []string) string {
	t.Helper()
	alone := start(t, isFirst, command)
	alone.release()
	want := alone.code()
	watched := start(t, isFirst, command)
	watcher := watched.watch(t)
	watched.release()
	began := time.Now()
	if code := watched.code(); code != want {
		t.Errorf("exit code %d, without us %d", code, want)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it lived for another %s", took)
	}
	return watcher.result()
}

func TestTheVerdictNamesTheDeath(t *testing.T) {
	for _, each := range []struct {
		name    string
		command func(t *testing.T) []string
		want    []string
	}{
		{"a nil pointer in the main thread", c("segv"), []string{"died of SIGSEGV (address 0x0, a nil pointer) in crash_here", "died_of_signal"}},
		{"a nil pointer in another thread", c("thread-segv"), []string{"died of SIGSEGV (address 0x0, a nil pointer) in crash_here", ", thread ", "crash+0x"}},
		{"a stack that is full", c("overflow"), []string{"the end of its stack: it is full) in overflow", "recursion"}},
		{"a jump to nowhere", c("jump"), []string{"a jump to address 0x0, where no code is) in main"}},
		{"a division by zero", c("divide"), []string{"died of SIGFPE (a division by zero)"}},
		{"an invalid instruction", c("trap"), []string{"died of SIGILL (an invalid instruction"}},
		{"a breakpoint", c("breakpoint"), []string{"died of SIGTRAP (a breakpoint)"}},
		{"abort", c("abort"), []string{"gave itself up by abort()", "called in give_up"}},
		{"a failed assertion", c("assert"), []string{"gave itself up by abort()", "of an assertion that failed in check+0x"}},
		{"abort of a static program", static("abort"), []string{"gave itself up by abort()", "called in give_up"}},
		{"a failed assertion of a static program", static("assert"), []string{"of an assertion that failed in check+0x", "__assert_fail_base"}},
		{"exit", c("exit"), []string{"ended itself with exit code 3, called in leave", "died_of_exit", "exit_group(0x3"}},
		{"exit in another thread", c("thread-exit"), []string{"ended itself with exit code 3, called in leave", "leave_thread"}},
		{"another program by execve", c("exec"), []string{"ended itself with exit code 3, called in leave"}},
		{"the end of the last thread", c("last-thread"), []string{"ended itself with exit code 0"}},
		{"very many threads", c("many-threads"), []string{"ended itself with exit code 4"}},
		{"a panic of Go", golang("panic"), []string{"exit code 2, of a panic that nobody recovered in main.panics (main.go:"}},
		{"a nil pointer of Go", golang("nil"), []string{"exit code 2, of a panic that nobody recovered in main.crash (main.go:"}},
		{"a panic in a goroutine", golang("goroutine"), []string{"exit code 2, of a panic that nobody recovered in main.panics (main.go:"}},
		{"a fatal error of Go", golang("fatal"), []string{"exit code 2, of a fatal error of Go's runtime (a map that goroutines used at the same time) in main.main.func1"}},
		{"a deadlock of Go", golang("deadlock"), []string{"exit code 2, of a fatal error of Go's runtime (a deadlock"}},
		{"os.Exit", golang("exit"), []string{"exit code 5, called in main.main (main.go:"}},
		{"an exception of Python", python("raise ValueError(1)"), []string{"exit code 1, of an exception of Python that nobody caught"}},
		{"a crash of Python", python("import ctypes\nctypes.string_at(0)"), []string{"died of SIGSEGV (address 0x0, a nil pointer)"}},
		{"a crash in a function of Python", python("import ctypes\ndef price(of):\n    return ctypes.string_at(of)\nprice(0)"), []string{"died of SIGSEGV (address 0x0, a nil pointer)", ", called by price (<string>:", "string_at (__init__.py:"}},
		{"sys.exit", python("import sys\nsys.exit(1)"), []string{"exit code 1, by sys.exit."}},
		{"os.abort in a function of Python", python("def leave():\n    os.abort()\nleave()"), []string{"gave itself up by abort()", "leave (<string>:5)"}},
		{"os._exit in a function of Python", python("def leave(code):\n    os._exit(code)\nleave(4)"), []string{"exit code 4", "leave (<string>:5)", "<module> (<string>:6)"}},
	} {
		for _, isFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, first process %t", each.name, isFirst), func(t *testing.T) {
				out := end(t, isFirst, each.command(t))
				// On a machine that gives it no CPU it must rather leave something out than hold for longer.
				for range 3 {
					if strings.Contains(out, "not all was read") {
						out = end(t, isFirst, each.command(t))
					}
				}
				for _, want := range each.want {
					if !strings.Contains(out, want) {
						t.Errorf("without %q:\n%s", want, out)
					}
				}
			})
		}
	}
}

func c(way string) func(*testing.T) []string {
	return func(t *testing.T) []string { return cVictim(t, way) }
}

func static(way string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		if buildOnce.Do(build); staticBuilt != nil {
			t.Skip("no C library to link into a program: ", staticBuilt)
		}
		return []string{filepath.Join(buildDir, "staticvictim"), way}
	}
}

func golang(way string) func(*testing.T) []string {
	return func(t *testing.T) []string { return goVictim(t, way) }
}

func python(code string) func(*testing.T) []string {
	return func(t *testing.T) []string { return pythonVictim(t, code) }
}

func TestASignalThatIsCaughtIsPassedOn(t *testing.T) {
	for _, isFirst := range []bool{true, false} {
		victim := start(t, isFirst, cVictim(t, "handled"))
		watcher := victim.watch(t)
		victim.release()
		kill(t, victim, syscall.SIGTERM)
		if code := victim.code(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		out := watcher.result()
		if !strings.Contains(out, "ended with exit code 0, 0.") || !strings.Contains(out, "as it was asked to") || strings.Contains(out, "died_of") {
			t.Errorf("first process %t:\n%s", isFirst, out)
		}
	}
}

func kill(t *testing.T, of *victim, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(of.pid, signal); err != nil {
		t.Fatal(err)
	}
}

func TestASignalThatEndsAChild(t *testing.T) {
	victim := start(t, false, cVictim(t, "wait"))
	watcher := victim.watch(t)
	kill(t, victim, syscall.SIGTERM)
	if code := victim.code(); code != exitSignals+int(syscall.SIGTERM) {
		t.Errorf("exit code %d", code)
	}
	if out := watcher.result(); !strings.Contains(out, "died of SIGTERM, sent by process ") {
		t.Error(out)
	}
}

// The kernel lets the first process of a container ignore what it does not catch; so must we.
func TestTheFirstProcessOutlivesSIGTERMAndThenDiesOfSIGKILL(t *testing.T) {
	outlivesSIGTERM(t, "wait")
}

// Node.js tidies up on SIGTERM, and then sends it to itself, which its kernel ignores.
func TestTheFirstProcessPassesSIGTERMOnToItself(t *testing.T) {
	outlivesSIGTERM(t, "raises")
}

func outlivesSIGTERM(t *testing.T, way string) {
	t.Helper()
	alone := start(t, true, cVictim(t, way))
	kill(t, alone, syscall.SIGKILL)
	want := alone.code()
	victim := start(t, true, cVictim(t, way))
	watcher := victim.watch(t)
	kill(t, victim, syscall.SIGTERM)
	time.Sleep(200 * time.Millisecond)
	if state := stateOf(victim.pid); state != "S" {
		t.Errorf("state %s", state)
	}
	kill(t, victim, syscall.SIGKILL)
	if code := victim.code(); code != want {
		t.Errorf("exit code %d, without us %d", code, want)
	}
	if out := watcher.result(); !strings.Contains(out, "was killed by SIGKILL, 0.") || !strings.Contains(out, "after SIGTERM from outside the container, which it did not follow") {
		t.Error(out)
	}
}

// isStoppedAndGoesOn expects that a victim stands still, and ends with code 3 once somebody lets it go on.
func isStoppedAndGoesOn(t *testing.T, of *victim) {
	t.Helper()
	if state := stateOf(of.pid); state != "t" && state != "T" {
		t.Errorf("state %s", state)
	}
	kill(t, of, syscall.SIGCONT)
	of.release()
	if code := of.code(); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

func TestAProcessThatIsStoppedStaysSoAndGoesOn(t *testing.T) {
	victim := start(t, true, cVictim(t, "exit"))
	watcher := victim.watch(t)
	kill(t, victim, syscall.SIGSTOP)
	time.Sleep(100 * time.Millisecond)
	isStoppedAndGoesOn(t, victim)
	if out := watcher.result(); !strings.Contains(out, "exit code 3") {
		t.Error(out)
	}
}

// shell is a container whose first process is a shell that starts a victim, and goes on behind its end.
func shell(t *testing.T, way string) *victim {
	t.Helper()
	victim := start(t, true, []string{"sh", "-c", cVictim(t, way)[0] + " " + way + "; sleep 0.3; exit 5"})
	victim.watched = "2 of 1"
	return victim
}

func TestTheDeathOfAChildIsToldByItself(t *testing.T) {
	victim := shell(t, "segv")
	watcher := victim.watch(t)
	victim.release()
	if out := watcher.result(); !strings.Contains(out, "Process 2 (victim) died of SIGSEGV") {
		t.Error(out)
	}
	if code := victim.code(); code != 5 {
		t.Errorf("exit code %d", code)
	}
}

func TestAChildThatEndsWellIsNoDeathAndTheFirstProcessIsWatchedOn(t *testing.T) {
	victim := shell(t, "last-thread")
	watcher := victim.watch(t)
	victim.release()
	if code := victim.code(); code != 5 {
		t.Errorf("exit code %d", code)
	}
	if out := watcher.result(); !strings.Contains(out, "Process 1 ") || !strings.Contains(out, "exit code 5") {
		t.Error(out)
	}
}
