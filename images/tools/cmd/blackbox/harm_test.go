package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func stateOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "gone"
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[:1]
}

// isHeld is whether any thread of a process is stopped.
func isHeld(pid int) bool {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, entry := range entries {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/stat", pid, entry.Name()))
		_, rest, _ := strings.Cut(string(text), ") ")
		if strings.HasPrefix(rest, "t") || strings.HasPrefix(rest, "T") {
			return true
		}
	}
	return false
}

// kills is how often the tests kill; 1,000 is what the promise is about.
func kills(otherwise int) int {
	if count, err := strconv.Atoi(os.Getenv("BLACKBOX_KILLS")); err == nil {
		return count
	}
	return otherwise
}

// Whenever the watcher is killed, also in the middle of a death, its target ends as it would have, and at once. Not among them is a breakpoint in a
// container's first process: killed in the instant between it and our step back, the process goes on behind it (docs/blackbox.md).
func TestAKilledWatcherHoldsNobody(t *testing.T) {
	ways := []struct {
		way  string
		code int
	}{{"segv", 139}, {"threads-segv", 139}, {"thread-segv", 139}, {"exit", 3}, {"thread-exit", 3}, {"abort", 139}, {"many-threads", 4}}
	held, phases := 0, map[string]int{}
	for number := range kills(24) {
		each := ways[number%len(ways)]
		victim := start(t, true, cVictim(t, each.way))
		watcher := victim.beside()
		if err := watcher.Start(); err != nil {
			t.Fatal(err)
		}
		// From before the seizing to behind the death.
		go func() {
			time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
			victim.release()
		}()
		time.Sleep(time.Duration(rand.IntN(80_000)) * time.Microsecond)
		killTracer(watcher)
		done := make(chan int, 1)
		go func() { done <- victim.code() }()
		select {
		case code := <-done:
			if code != each.code {
				t.Errorf("%s: exit code %d", each.way, code)
			}
		case <-time.After(5 * time.Second):
			held++
			t.Errorf("%s: it lives on, state %s", each.way, stateOf(victim.pid))
			kill(t, victim, syscall.SIGKILL)
			<-done
		}
		phases[phaseOf(watcher.result())]++
	}
	t.Logf("%d kills, %v, %d processes held or immortal", kills(24), phases, held)
}

// phaseOf is when a watcher was killed.
func phaseOf(out string) string {
	switch {
	case strings.Contains(out, "-----END KDEBUG REPORT-----"):
		return "behind the report"
	case strings.Contains(out, "Watching"):
		return "while it watched or told"
	}
	return "before it watched"
}

// killTracer kills the watcher itself, which nsenter starts as a child; nsenter then takes its end from the kernel, as a container's runtime does.
func killTracer(of *watcher) {
	for until := time.Now().Add(testPatience); time.Now().Before(until); {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", of.Process.Pid, of.Process.Pid))
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				return
			}
		}
		if stateOf(of.Process.Pid) == "Z" {
			return
		}
	}
}

// A signal that is on its way when the watcher is killed still arrives, and nobody stays stopped.
func TestAKilledWatcherLosesNoSignal(t *testing.T) {
	rounds := kills(12)
	for range rounds {
		victim := start(t, true, cVictim(t, "count"))
		victim.begin()
		watcher := victim.watch(t)
		// Each waits for the one before: two at once are one to the kernel.
		sent := 0
		killed := time.After(time.Duration(rand.IntN(20_000)) * time.Microsecond)
	send:
		for sent < 100 {
			select {
			case <-killed:
				killTracer(watcher)
				killed = nil
			default:
			}
			if isPending(victim.pid) {
				continue
			}
			kill(t, victim, syscall.SIGUSR1)
			sent++
			if killed == nil && sent > 90 {
				break send
			}
		}
		for until := time.Now().Add(2 * time.Second); isPending(victim.pid) && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
		killTracer(watcher)
		time.Sleep(2 * time.Millisecond)
		if isHeld(victim.pid) {
			t.Error("it is still stopped")
		}
		victim.release()
		if code := victim.code(); code != sent {
			t.Errorf("%d of %d signals arrived", code, sent)
		}
		_ = watcher.Wait()
	}
}

// isPending is whether a SIGUSR1 is still to be delivered, or its thread is stopped for it.
func isPending(pid int) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if name == "SigPnd" || name == "ShdPnd" {
			if mask, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64); err == nil && mask>>(syscall.SIGUSR1-1)&1 == 1 {
				return true
			}
		}
	}
	return stateOf(pid) != "S"
}

func TestASecondWatcherIsTold(t *testing.T) {
	victim := start(t, true, cVictim(t, "exit"))
	first := victim.watch(t)
	second := victim.beside()
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	if out := second.result(); !strings.Contains(out, "Could not look: process 1 (victim) cannot be watched, it is already traced by process ") {
		t.Error(out)
	}
	victim.release()
	if code := victim.code(); code != 3 {
		t.Errorf("exit code %d", code)
	}
	if out := first.result(); !strings.Contains(out, "exit code 3") {
		t.Error(out)
	}
}

func TestWhenTheTimeIsOverItLetsGo(t *testing.T) {
	victim := start(t, true, cVictim(t, "exit"))
	watcher := victim.watch(t, "BLACKBOX_FOR=1s")
	if out := watcher.result(); !strings.Contains(out, "The time is over: process 1 (victim) is alive after 1") {
		t.Error(out)
	}
	if isHeld(victim.pid) {
		t.Error("it is held")
	}
	victim.release()
	if code := victim.code(); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

func TestToldToStopItLetsGo(t *testing.T) {
	victim := start(t, false, cVictim(t, "exit"))
	watcher := victim.watch(t)
	_ = watcher.Process.Signal(syscall.SIGTERM)
	if out := watcher.result(); !strings.Contains(out, "Told to stop: process ") {
		t.Error(out)
	}
	victim.release()
	if code := victim.code(); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

func TestATargetThatSealedItselfIsToldOfInWords(t *testing.T) {
	victim := start(t, false, ofAnother(cVictim(t, "sealed")))
	watcher := victim.beside()
	watcher.asAnother(t)
	if err := watcher.Start(); err != nil {
		t.Skip(err)
	}
	if out := watcher.result(); !strings.Contains(out, "Could not look: the kernel does not let us trace process ") || !strings.Contains(out, "It lacks SYS_PTRACE: the target made itself unreadable.") {
		t.Error(out)
	}
}

func TestATargetThatSealsItselfLaterIsWatchedOn(t *testing.T) {
	victim := start(t, false, ofAnother(cVictim(t, "seals-later")))
	watcher := victim.beside()
	watcher.asAnother(t)
	if err := watcher.Start(); err != nil {
		t.Skip(err)
	}
	watcher.waitUntilWatching(t)
	victim.release()
	if code := victim.code(); code != 6 {
		t.Errorf("exit code %d", code)
	}
	if out := watcher.result(); !strings.Contains(out, "ended itself with exit code 6") {
		t.Error(out)
	}
}
