package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// waitFor waits until the watcher has written some words.
func (w *watcher) waitFor(t *testing.T, words string) {
	t.Helper()
	for until := time.Now().Add(testPatience); !strings.Contains(w.out.String(), words); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("it does not write %q: %s", words, w.out.String())
		}
	}
}

// limited puts a process into a cgroup of its own with a limit of memory; a test without the right to is skipped.
func limited(t *testing.T, of *victim, bytes int64) {
	t.Helper()
	folder := filepath.Join("/sys/fs/cgroup/memory", fmt.Sprintf("blackbox-%d", of.pid))
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Skip("no cgroup of version 1 to write to: ", err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(of.pid, syscall.SIGKILL)
		for until := time.Now().Add(2 * time.Second); os.Remove(folder) != nil && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond)
		}
	})
	for _, each := range []struct{ name, value string }{{"memory.limit_in_bytes", strconv.FormatInt(bytes, 10)}, {"cgroup.procs", strconv.Itoa(of.pid)}} {
		if err := os.WriteFile(filepath.Join(folder, each.name), []byte(each.value), 0o600); err != nil {
			t.Skip(err)
		}
	}
}

// leaks lets a process leak into its limit, and gives what the watcher wrote.
func leaks(t *testing.T) string {
	t.Helper()
	victim := start(t, false, cVictim(t, "leak"))
	limited(t, victim, 128<<20)
	watcher := victim.watch(t, "BLACKBOX_WHEN=memory>60%", "BLACKBOX_FOR=1m")
	victim.release()
	if code := victim.code(); code != exitSignals+int(syscall.SIGKILL) {
		t.Errorf("exit code %d", code)
	}
	return watcher.result()
}

func TestALeakIsSeenBeforeItsDeathWhichIsToldFirst(t *testing.T) {
	out := leaks(t)
	// On a machine that gives it no CPU the end may come first, or a thread may not stop in time.
	for range 3 {
		if !strings.Contains(out, " was in ") {
			out = leaks(t)
		}
	}
	for _, want := range []string{
		"Memory passed 60 % (", " of 128 MiB) ", " after the watch began; process ", " was in leak+0x", "name=tripwire.txt", "name=stacks.folded", "name=death.folded",
		`"code":"died_of_memory"`, `"code":"tripwire"`, "was killed for memory", "Before: Memory passed 60 % (",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
	if strings.Index(out, `"code":"died_of_memory"`) > strings.Index(out, `"code":"tripwire"`) {
		t.Error("the death is not told first")
	}
}

func TestAConditionOfTheProcessIsSeenAndTheWatchGoesOn(t *testing.T) {
	for _, each := range []struct{ way, when, words string }{
		{"opens", "fds>40", "Open files passed 40 ("},
		{"crowd", "threads>20", "Threads passed 20 (31)"},
		{"crowd", "memory>500GiB, threads>20", "Threads passed 20 (31)"},
		{"opens", "quiet>1s", "Nothing was written for 1 s ("},
	} {
		for _, isFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, first process %t", each.when, isFirst), func(t *testing.T) {
				victim := start(t, isFirst, cVictim(t, each.way))
				watcher := victim.watch(t, "BLACKBOX_WHEN="+each.when)
				victim.begin()
				watcher.waitFor(t, "The watch for its end goes on until ")
				if isHeld(victim.pid) {
					t.Error("it is held")
				}
				victim.release()
				if code := victim.code(); code != 3 {
					t.Errorf("exit code %d", code)
				}
				out := watcher.result()
				for _, want := range []string{each.words, "name=tripwire.txt", "all threads were held for ", "ended itself with exit code 3, called in leave", "Before: " + each.words, `"code":"tripwire"`} {
					if !strings.Contains(out, want) {
						t.Errorf("without %q:\n%s", want, out)
					}
				}
			})
		}
	}
}

func TestAPythonIsToldByItsOwnFunction(t *testing.T) {
	victim := start(t, false, pythonVictim(t, "import time\ndef wait_for_stock(seconds):\n    time.sleep(seconds)\nwait_for_stock(1000)"))
	watcher := victim.watch(t, "BLACKBOX_WHEN=quiet>1s", "BLACKBOX_FOR=3s")
	victim.release()
	out := watcher.result()
	for _, want := range []string{"Nothing was written for 1 s (", " was in wait_for_stock (<string>:6)", "its functions of Python:\n    wait_for_stock (<string>:6)\n    <module> (<string>:7)"} {
		if !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
}

func TestASummaryStopsNoThread(t *testing.T) {
	victim := start(t, false, cVictim(t, "crowd"))
	watcher := victim.watch(t, "BLACKBOX_WHEN=threads>20", "BLACKBOX_THEN=summary", "BLACKBOX_FOR=3s")
	victim.begin()
	out := watcher.result()
	for _, want := range []string{"Threads passed 20 (31)", "no thread was stopped", "name=tripwire.txt", "The time is over: process ", "3.0 s of watching"} {
		if !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "name=stacks.folded") {
		t.Error("it has stacks")
	}
}

func TestAThreadThatIsStoppedStaysSoThroughALook(t *testing.T) {
	victim := start(t, false, cVictim(t, "opens"))
	watcher := victim.watch(t, "BLACKBOX_WHEN=quiet>1s")
	kill(t, victim, syscall.SIGSTOP)
	watcher.waitFor(t, "The watch for its end goes on until ")
	time.Sleep(50 * time.Millisecond)
	isStoppedAndGoesOn(t, victim)
	_ = watcher.result()
}

func TestAWatcherThatIsKilledWhileItLooksHoldsNobody(t *testing.T) {
	for number := range kills(8) {
		victim := start(t, true, cVictim(t, "crowd"))
		watcher := victim.beside("BLACKBOX_WHEN=threads>1")
		if err := watcher.Start(); err != nil {
			t.Fatal(err)
		}
		victim.begin()
		// The look begins a fifth of a second after the watch.
		watcher.waitFor(t, "Watching")
		time.Sleep(195*time.Millisecond + time.Duration(number*2)*time.Millisecond)
		killTracer(watcher)
		_ = watcher.Wait()
		time.Sleep(2 * time.Millisecond)
		if isHeld(victim.pid) {
			t.Error("it is held")
		}
		victim.release()
		if code := victim.code(); code != 3 {
			t.Errorf("exit code %d", code)
		}
	}
}

func TestAJVMIsAskedForItsOwnFunctions(t *testing.T) {
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("no Java")
	}
	victim := start(t, false, []string{java, "-Xint", "-Xmx32m", "testdata/Shop.java"})
	watcher := victim.watch(t, "BLACKBOX_WHEN=threads>2", "BLACKBOX_FOR=4s")
	victim.release()
	out := watcher.result()
	if strings.Contains(out, "has too little room") {
		t.Skip(out)
	}
	for _, want := range []string{"Threads passed 2 (", " was in Shop.", "its functions of Java:\n", " (Shop.java:", "is alive after "} {
		if !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
	if state := stateOf(victim.pid); state == "gone" || state == "Z" {
		t.Error("it has ended")
	}
}

func TestAConditionThatIsNotMeasuredIsNotPassedOverInSilence(t *testing.T) {
	for _, each := range []struct{ when, words string }{
		{"port:1>2s", "Not measured: port:1>2s (nothing accepted a connection there)."},
		{"memory>92%,threads>500", "Never held: threads>500. Not measured: memory>92% (the container has no limit of memory; an amount works, as memory>500MiB)."},
	} {
		victim := start(t, false, cVictim(t, "wait"))
		out := victim.watch(t, "BLACKBOX_WHEN="+each.when, "BLACKBOX_FOR=2s").result()
		for _, want := range []string{" is alive after 2.0 s of watching. " + each.words, `"name":"tripwire","state":"not-readable"`} {
			if !strings.Contains(out, want) {
				t.Errorf("without %q:\n%s", want, out)
			}
		}
	}
}

func TestAWatchThatCanMeasureNothingEndsAtOnce(t *testing.T) {
	victim := start(t, false, cVictim(t, "wait"))
	out := victim.watch(t, "BLACKBOX_WHEN=memory>92%", "BLACKBOX_FOR=1h").result()
	if want := "Could not look: memory>92% cannot be watched: the container has no limit of memory"; !strings.Contains(out, want) {
		t.Errorf("without %q:\n%s", want, out)
	}
}

func TestATargetThatEndedWellIsNotCalledAlive(t *testing.T) {
	first, victim := start(t, false, cVictim(t, "wait")), start(t, false, []string{"sh", "-c", "echo ready; read line; exit 0"})
	victim.watched = fmt.Sprintf("%d of %d", victim.pid, first.pid)
	watcher := victim.watch(t, "BLACKBOX_WHEN=threads>500", "BLACKBOX_FOR=3s")
	victim.release()
	victim.code()
	out := watcher.result()
	for _, want := range []string{" ended with exit code 0 after ", fmt.Sprintf("and process %d", first.pid), " is alive after 3.0 s of watching."} {
		if !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
}

func TestOfVeryManyThreadsOnlyTheBusiestAreStopped(t *testing.T) {
	victim := start(t, false, cVictim(t, "masses"))
	victim.begin()
	for until := time.Now().Add(testPatience); len(threadsOf(victim.pid)) < 3001 && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	out := victim.watch(t, "BLACKBOX_WHEN=threads>500", "BLACKBOX_FOR=5s").result()
	for _, want := range []string{"Threads passed 500 (3001)", "; 3001 threads\n", "256 of 3001 threads were held for "} {
		if !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
}

func threadsOf(pid int) []os.DirEntry {
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return all
}

func TestAWatchThatIsToldToStopHasNotSeenItsTime(t *testing.T) {
	victim := start(t, false, cVictim(t, "wait"))
	watcher := victim.watch(t, "BLACKBOX_WHEN=threads>500", "BLACKBOX_FOR=1h")
	watcher.waitFor(t, "when threads>500")
	time.Sleep(time.Second)
	_ = watcher.Process.Signal(syscall.SIGTERM)
	out := watcher.result()
	for _, want := range []string{"Told to stop: process ", " Never held: threads>500.", `"name":"death","state":"not-readable"`, `"lacks":"the rest of 60 minutes"`} {
		if !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
}
