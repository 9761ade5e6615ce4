package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// postgres is a look at a database with these titles, of processes from number 1 on.
func postgres(t *testing.T, titles ...string) *look {
	t.Helper()
	proc := target.FS(t.TempDir())
	self, err := target.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	l := &look{target: self.In(proc), titles: map[int]string{}}
	l.target.Runtime, l.target.Processes = target.Native, nil
	for index, title := range titles {
		pid := index + 1
		if err := os.MkdirAll(proc.Path(pid), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(proc.Path(pid, "cmdline"), []byte(title+"\x00\x00\x00"), 0o600); err != nil {
			t.Fatal(err)
		}
		process := target.Process{PID: pid, Runtime: target.Native, Status: target.Status{Name: "postgres"}, Command: proc.Cmdline(pid)}
		l.target.Processes = append(l.target.Processes, process)
		l.titles[pid] = process.Title()
		l.dumps = append(l.dumps, &stack.Dump{Process: process, Threads: []stack.Thread{{ID: pid, Name: "postgres", Kernel: thread.Seen{Class: thread.Queue, Words: "waiting for events"}}}})
	}
	return l
}

func sessions(count int) []string {
	titles := []string{"postgres: checkpointer ", "postgres: shop shop 10.0.0.9(40312) idle in transaction"}
	for number := range count {
		titles = append(titles, fmt.Sprintf("postgres: shop shop 10.0.0.9(%d) UPDATE waiting", 40400+number))
	}
	return titles
}

// W16: the first six of thirteen processes were looked at, and all sessions were others.
func TestSessionsThatSayThatTheyWaitAreSaidFirst(t *testing.T) {
	l := postgres(t, sessions(6)...)
	const want = "6 sessions of postgres wait for a lock (UPDATE); shop shop 10.0.0.9(40312) is idle in a transaction and may hold it"
	if codes(l) != "lock_queue" || findings(l)[0].Text != want {
		t.Errorf("%+v", findings(l))
	}
	var out strings.Builder
	l.tell(&out)
	if first := strings.SplitN(strings.TrimSpace(out.String()), "\n", 2)[0]; !strings.Contains(first, "UPDATE waiting") {
		t.Errorf("%s", out.String())
	}
	l = postgres(t, sessions(2)...)
	if verdict := l.verdict(findings(l)); codes(l) != "" || !strings.HasPrefix(verdict, "2 sessions of postgres wait for a lock (UPDATE); ") {
		t.Errorf("%s: %s", codes(l), verdict)
	}
}

// Under load each waits for some milliseconds, again and again.
func TestASessionThatWaitsForAMomentIsWell(t *testing.T) {
	for name, change := range map[string]func(l *look){
		"it runs in between": func(l *look) {
			for _, dump := range l.dumps {
				dump.Threads[0].Kernel.Runs = 40
			}
		},
		"it did something else before": func(l *look) {
			for pid := range l.titles {
				l.titles[pid] = "postgres: shop shop 10.0.0.9(1) idle"
			}
		},
	} {
		l := postgres(t, sessions(6)...)
		change(l)
		if verdict := l.verdict(findings(l)); codes(l) != "" || !strings.HasPrefix(verdict, "Nothing computes") {
			t.Errorf("%s: %s %s", name, codes(l), verdict)
		}
	}
}

func TestProcessesWithOneThreadEachAreAPool(t *testing.T) {
	const master = "php-fpm: master process (/etc/php-fpm.conf)"
	for want, titles := range map[string][]string{
		"php-fpm: pool www": {"php-fpm: pool www", "php-fpm: pool www", "php-fpm: pool www", "php-fpm: pool www", "php-fpm: pool www"},
		"php8.2: worker":    {"php8.2: worker", "php8.2: worker", "php8.2: worker", "php8.2: worker", "php8.2: worker"},
		"shop: worker":      {"shop: worker 1:", "shop: worker 2:", "shop: worker 3:", "shop: worker 4:", "shop: worker 5:"},
		"postgres: shop":    {"postgres: shop 10.0.0.9(40400)", "postgres: shop 10.0.0.9(40401)", "postgres: shop 10.0.0.9(40402)", "postgres: shop 10.0.0.9(40403)", "postgres: shop 10.0.0.9(40404)"},
	} {
		l := postgres(t, append([]string{master}, titles...)...)
		for _, dump := range l.dumps[1:] {
			dump.Threads[0].Kernel = thread.Seen{Class: thread.Socket, Peer: "10.1.2.3:3306", Waited: 12 * time.Second, Words: "reading from 10.1.2.3:3306"}
		}
		if found := findings(l); len(found) != 1 || found[0].Text != "all 5 "+want+" processes wait, reading from 10.1.2.3:3306, for 12 s" {
			t.Errorf("%s: %+v", want, found)
		}
	}
}

// W17: of the thread, see the package thread; here a look at a healthy Redis that writes to its disk at both readings.
func TestAMomentAtADiskIsNoFinding(t *testing.T) {
	l := lookAt(target.Native, named("redis-server", target.Native, stack.Dump{Threads: []stack.Thread{{ID: 1, Name: "redis-server", Kernel: thread.Seen{Class: thread.Other, Words: "waiting for a disk at that moment", Runs: 300}}}}))
	if verdict := l.verdict(findings(l)); codes(l) != "" || verdict != "Nothing computes all the time; 1 thread: 1 waiting for a disk at that moment." {
		t.Errorf("%s: %s", codes(l), verdict)
	}
}

func TestTitlesAreNoLinesOfTheirOwn(t *testing.T) {
	l := postgres(t, "postgres: x\n-----BEGIN KDEBUG REPORT----- UPDATE waiting", "a b\x1b[2J")
	var out strings.Builder
	l.tell(&out)
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "-----") || strings.Contains(line, "\x1b") {
			t.Errorf("%q", line)
		}
	}
}
