package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// over is a context that has ended: nothing is waited for.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func lookAt(runtime target.Runtime, dumps ...*stack.Dump) *look {
	l := &look{target: &target.Target{Process: target.Process{PID: 1, Runtime: runtime}}, dumps: dumps}
	for _, dump := range dumps {
		dump.Process.Runtime = runtime
		l.target.Processes = append(l.target.Processes, dump.Process)
	}
	return l
}

func findings(l *look) []report.Finding {
	var all []report.Finding
	for _, part := range l.parts() {
		all = append(all, part.Findings...)
	}
	rules.Sort(all)
	return all
}

func codes(l *look) string {
	var words []string
	for _, finding := range findings(l) {
		words = append(words, finding.Code)
	}
	return strings.Join(words, " ")
}

var upstream = thread.Seen{Class: thread.Socket, Peer: "10.1.2.3:5432", Waited: 12 * time.Second, Words: "reading from 10.1.2.3:5432"}

func waiters(count int) []stack.Thread {
	threads := []stack.Thread{{ID: 1, Name: "holder", State: "RUNNABLE", Holds: []string{"0x1"}, Frames: []string{"Db.query(Db.java:7)"}, Kernel: upstream}}
	for number := range count {
		threads = append(threads, stack.Thread{ID: 2 + number, Name: fmt.Sprintf("http-%d", number), State: "BLOCKED", WaitsFor: "0x1", WaitsForKind: "Pool", Frames: []string{"Pool.take(Pool.java:3)"}})
	}
	return threads
}

func TestAQueueAtALockIsFoundFromFiveOn(t *testing.T) {
	if got := codes(lookAt(target.JVM, &stack.Dump{Threads: waiters(4)})); got != "" {
		t.Error(got)
	}
	l := lookAt(target.JVM, &stack.Dump{Threads: waiters(5)})
	if codes(l) != "lock_queue" || findings(l)[0].Text != "5 threads wait for a lock that holder holds in Db.query, reading from 10.1.2.3:5432" {
		t.Errorf("%+v", findings(l))
	}
}

func TestWhatStandsOutIsFound(t *testing.T) {
	var leaked []stack.Thread
	for number := range 21 {
		leaked = append(leaked, stack.Thread{Name: fmt.Sprintf("goroutine %d", number), State: "chan receive", Minutes: 9, Frames: []string{"runtime.gopark (proc.go:1)", "main.wait (main.go:2)"}})
	}
	for want, l := range map[string]*look{
		"deadlock":         lookAt(target.JVM, &stack.Dump{Deadlocks: [][]string{{"a", "b"}}}),
		"same_place":       lookAt(target.Go, &stack.Dump{Threads: leaked}),
		"":                 lookAt(target.Go, &stack.Dump{Threads: leaked[:20]}),
		"busy_thread":      lookAt(target.Python, &stack.Dump{Threads: []stack.Thread{{ID: 1, Name: "MainThread", Kernel: thread.Seen{Class: thread.OnCPU, Running: 0.97}}}}),
		"event_loop_busy":  lookAt(target.Node, &stack.Dump{HotIsSampled: true, Hot: []stack.Sample{{Frames: []string{"busy (a.js:1)"}, Value: 85}, {Frames: []string{"(idle)"}, Value: 15}}}),
		"thread_in_kernel": lookAt(target.Native, &stack.Dump{Threads: []stack.Thread{{ID: 1, Kernel: thread.Seen{Class: thread.Disk}}}}),
		"runtime_silent":   lookAt(target.JVM, &stack.Dump{Silent: "no answer"}),
		"inspector_open":   lookAt(target.Node, &stack.Dump{Exposed: "it listens"}),
	} {
		if got := codes(l); got != want {
			t.Errorf("found %q, not %q", got, want)
		}
	}
}

func TestAnIdleEventLoopIsNoFinding(t *testing.T) {
	l := lookAt(target.Node, &stack.Dump{HotIsSampled: true, Hot: []stack.Sample{{Frames: []string{"(idle)"}, Value: 90}, {Frames: []string{"(garbage collector)"}, Value: 4}, {Frames: []string{"f (a.js:1)"}, Value: 6}}})
	if codes(l) != "" || l.verdict(nil) != "The event loop has time left." {
		t.Errorf("%q %q", codes(l), l.verdict(nil))
	}
}

func TestAWorkerOfNodeThatComputesIsFoundBesideAnIdleEventLoop(t *testing.T) {
	dump := func() *stack.Dump {
		return &stack.Dump{HotIsSampled: true, Hot: []stack.Sample{{Frames: []string{"(idle)"}, Value: 99}}, Cores: 0.3, Beside: []stack.Thread{{ID: 7, Kernel: thread.Seen{Running: 0.3, Ready: 0.65}}}}
	}
	if found := lookAt(target.Node, dump()).parts()[1].Findings; len(found) != 1 || found[0].Code != "busy_thread" || !strings.Contains(found[0].Text, "beside its event loop") {
		t.Errorf("%+v", found)
	}
	collecting := dump()
	collecting.Collecting = 0.3
	if found := lookAt(target.Node, collecting).parts()[1].Findings; len(found) != 0 {
		t.Errorf("the collector is called a worker: %+v", found)
	}
}

func TestABlindLookSaysWhatLacks(t *testing.T) {
	l := lookAt(target.Python, &stack.Dump{Lack: &target.Lack{Lacks: "the target's own uid:gid", Helps: []string{"identity"}}})
	section := l.parts()[0].Section
	if section.State != report.NotReadable || section.Helps[0] != report.Identity || !strings.HasPrefix(l.verdict(nil), "Could not look: what lacks is the target's own uid:gid") {
		t.Errorf("%+v", section)
	}
}

func TestABlindLookSaysWhatIsSeenFromOutside(t *testing.T) {
	dump := named("shop", target.Go, stack.Dump{Lack: &target.Lack{Lacks: "pprof"}, Cores: 0.7, Threads: []stack.Thread{{ID: 1, Kernel: futex}}})
	const want = "shop uses 0.70 of a core; could not look: what lacks is pprof; from outside it has 1 thread: 1 waiting (idle, or for a lock)."
	l := lookAt(target.Go, dump)
	if got := l.verdict(findings(l)); got != want {
		t.Error(got)
	}
}

// A target chooses the names of its threads, functions and locks.
func TestNamesOfTheTargetWriteNoLinesOfTheirOwn(t *testing.T) {
	evil := "x\n-----BEGIN KDEBUG REPORT-----\n{\"kdebug\":1,\"verdict\":\"fine\"}\n-----END KDEBUG REPORT-----\n"
	dump := &stack.Dump{
		Process: target.Process{Status: target.Status{Name: evil}}, Runtime: evil, Deadlocks: [][]string{{evil, "b"}}, Notes: []string{evil}, Silent: evil, Exposed: evil, Pause: evil,
		Lack: &target.Lack{Lacks: evil}, Hot: []stack.Sample{{Frames: []string{evil}, Value: 1}},
		Threads: []stack.Thread{
			{Name: evil, State: evil, Frames: []string{evil}, Holds: []string{"1"}}, {Name: "b", State: "BLOCKED", WaitsFor: "1", WaitsForKind: evil, Frames: []string{"y"}},
			{Name: "c", State: "BLOCKED", WaitsFor: "1", WaitsForKind: evil, Kernel: thread.Seen{Running: 1}, Frames: []string{evil, evil}},
		},
	}
	l := lookAt(target.JVM, dump)
	var out strings.Builder
	l.tell(&out)
	head(&out, &report.Report{Verdict: l.verdict(findings(l))})
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "-----") || strings.HasPrefix(line, "{") {
			t.Errorf("%q", line)
		}
	}
	if strings.Count(out.String(), "\n") > 60 {
		t.Errorf("%d lines", strings.Count(out.String(), "\n"))
	}
}

func TestFilesOfSeveralProcessesHaveTheirOwnNames(t *testing.T) {
	files := lookAt(target.JVM, &stack.Dump{Process: target.Process{PID: 7}, Text: "a", Files: []stack.File{{Name: "histogram.txt"}}}, &stack.Dump{Process: target.Process{PID: 8}, Text: "b", Files: []stack.File{{Name: "histogram.txt"}}}).files()
	if len(files) != 3 || files[0].Name != "threads.txt" || files[1].Name != "7-histogram.txt" || files[2].Name != "8-histogram.txt" {
		t.Errorf("%+v", files)
	}
}

func TestSettingsAreHeldToTheirForm(t *testing.T) {
	for _, wrong := range []string{"STACKS_SECONDS=0", "STACKS_SECONDS=61", "STACKS_SECONDS=x", "STACKS_PID=-1", "STACKS_TO_LOG=1", "STACKS_HISTOGRAM=Yes"} {
		name, value, _ := strings.Cut(wrong, "=")
		if _, err := readSettings(func(asked string) string { return map[bool]string{true: value}[asked == name] }); err == nil {
			t.Error(wrong)
		}
	}
	read, err := readSettings(func(name string) string {
		return map[string]string{"STACKS_SECONDS": "5", "STACKS_TO_LOG": "yes", "STACKS_HISTOGRAM": "no"}[name]
	})
	if err != nil || read.sample(time.Hour) != 5*time.Second || !read.toItsLog || read.histogram {
		t.Errorf("%+v %v", read, err)
	}
}

func TestOfSeveralNodesTheBusiestIsTaken(t *testing.T) {
	l := &look{target: &target.Target{Process: target.Process{PID: 1, Runtime: target.Node}}}
	l.target.Processes = []target.Process{{PID: 1, Runtime: target.Node, UsedTicks: 5}, {PID: 9, Runtime: target.Node, UsedTicks: 500}, {PID: 3, Runtime: target.Native, UsedTicks: 9000}}
	err := l.choose(over())
	if err != nil || len(l.chosen) != 1 || l.chosen[0].PID != 9 || len(l.beside) != 2 {
		t.Errorf("%+v %+v %v", l.chosen, l.beside, err)
	}
	l.settings.pid = 4
	if err := l.choose(over()); err == nil {
		t.Error("a process that is not there")
	}
}

// Twelve requests may hang in threads that the dump does not have.
func TestThreadsThatAreNotLookedAtAreSaidFirst(t *testing.T) {
	l := lookAt(target.JVM, &stack.Dump{Threads: []stack.Thread{{ID: 1, Name: "main", State: "WAITING", Idle: true}}, Unseen: "its virtual threads are not looked at: their dump needs a /tmp"})
	if got := l.verdict(findings(l)); !strings.HasPrefix(got, "its virtual threads are not looked at: their dump needs a /tmp; of the others: no deadlock") {
		t.Error(got)
	}
	if section := l.parts()[0].Section; section.State != report.NotReadable || section.Lacks == "" {
		t.Errorf("%+v", section)
	}
}

func TestAFullHeapIsSaidFirst(t *testing.T) {
	dump := &stack.Dump{Process: target.Process{Status: target.Status{Name: "java"}}, Heap: "old generation 99 % of 30 MiB", HeapFull: true, Threads: []stack.Thread{{ID: 1, Name: "main", State: "WAITING", Idle: true}}}
	l := lookAt(target.JVM, dump)
	if got := l.verdict(findings(l)); !strings.HasPrefix(got, "The heap of java is nearly full, old generation 99 % of 30 MiB; no deadlock") {
		t.Error(got)
	}
	dump.Collecting = 0.71
	if got := findings(l); codes(l) != "gc_heavy" || !strings.Contains(got[0].Text, "71%") || !strings.Contains(got[0].Text, "old generation 99 % of 30 MiB") {
		t.Errorf("%+v", got)
	}
}

func TestFilesHaveNoControlCharactersOfTheTarget(t *testing.T) {
	evil := "\x1b[2J\r\u202e"
	dump := &stack.Dump{Runtime: "Node.js " + evil + "\n", Text: "at x" + evil + "\n\tat y", Files: []stack.File{{Name: "histogram.txt", Content: []byte("1:" + evil)}, {Name: "stacks.cpuprofile", Content: []byte("{}\r\n")}}}
	files := lookAt(target.JVM, dump).files()
	for _, file := range files[:2] {
		if strings.ContainsAny(string(file.Content), evil[:1]+"\r\u202e") {
			t.Errorf("%s: %q", file.Name, file.Content)
		}
	}
	if text := string(files[0].Content); strings.Count(text, "\n") != 4 || !strings.Contains(text, "\n\tat y") || string(files[2].Content) != "{}\r\n" {
		t.Errorf("%q %q", text, files[2].Content)
	}
}

func TestAHotFunctionOfALibraryIsToldWithItsCaller(t *testing.T) {
	for hot, want := range map[string]string{
		"pbkdf2Sync (node:internal/crypto/pbkdf2:60)": "the event loop is busy 100% of the time, mostly in pbkdf2Sync (node:internal/crypto/pbkdf2:60), called from hashAll (app.cjs:31)",
		"price (app.cjs:9)":                           "the event loop is busy 100% of the time, mostly in price (app.cjs:9)",
	} {
		l := lookAt(target.Node, &stack.Dump{HotIsSampled: true, Samples: 100, Cores: 1, Hot: []stack.Sample{{Frames: []string{hot, "hashAll (app.cjs:31)", "main (app.cjs:1)"}, Value: 100}}})
		if got := findings(l)[0].Text; got != want {
			t.Error(got)
		}
	}
}

// A runtime that refuses at once leaves no time in which anything could be measured.
func TestThreadsAreMeasuredForASecondAtLeast(t *testing.T) {
	own, err := target.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	dump := measured(t.Context(), own, func() *stack.Dump { return &stack.Dump{} })
	if dump.Busy < dump.Cores {
		t.Errorf("%+v", dump)
	}
	if passed := time.Since(began); passed < thread.Least {
		t.Error(passed)
	}
}
