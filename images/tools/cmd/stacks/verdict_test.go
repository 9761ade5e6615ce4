package main

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/sockets"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// many are threads of a pool that differ in their number.
func many(count int, name string, like stack.Thread) []stack.Thread {
	var threads []stack.Thread
	for number := range count {
		each := like
		each.ID, each.Name = 100+number, fmt.Sprintf("%s%d", name, number)
		threads = append(threads, each)
	}
	return threads
}

var (
	futex   = thread.Seen{Class: thread.Lock, Words: "waiting (idle, or for a lock)", Running: 0.001}
	events  = thread.Seen{Class: thread.Queue, Words: "waiting for events", Running: 0.003}
	clients = thread.Seen{Class: thread.Queue, Words: "waiting for a client"}
)

func named(name string, runtime target.Runtime, dump stack.Dump) *stack.Dump {
	dump.Process = target.Process{PID: 1, Runtime: runtime, Status: target.Status{Name: name}, Command: []string{"/usr/bin/" + name, "run"}}
	return &dump
}

// What is said of a program that is well and has nothing to do: no place where it is "most of the time", no lock, and no words of the kernel.
func TestOfAHealthyIdleProgramNothingStandsOut(t *testing.T) {
	idle := stack.Thread{Idle: true, Kernel: futex, State: "WAITING", Frames: []string{"sun.misc.Unsafe.park"}}
	for name, test := range map[string]struct {
		dump *stack.Dump
		want string
	}{
		// W1: three samples of the little that was not idle.
		"gunicorn": {
			named("gunicorn", target.Python, stack.Dump{
				Threads: append(many(8, "ThreadPoolExecutor-0_", stack.Thread{Idle: true, Kernel: futex, Frames: []string{"_worker (concurrent/futures/thread.py:81)"}}), stack.Thread{ID: 1, Name: "MainThread", Kernel: events, Frames: []string{"Arbiter.wait_for_signals (gunicorn/arbiter.py:425)"}}),
				Hot:     []stack.Sample{{Frames: []string{"_worker (concurrent/futures/thread.py:81)"}, Value: 2}, {Frames: []string{"f (x.py:1)"}, Value: 1}}, HotIsSampled: true, Samples: 3, Cores: 0.01,
			}),
			"No thread computes all the time and no pool waits; 9 threads: 8 idle, 1 waiting for events.",
		},
		// W2: no lock, and no "hottest: EPoll.wait".
		"Tomcat": {
			named("java", target.JVM, stack.Dump{
				Threads: append(many(10, "http-nio-8080-exec-", idle), stack.Thread{ID: 7, Name: "http-nio-8080-Poller", State: "RUNNABLE", Idle: true, Kernel: events, Frames: []string{"sun.nio.ch.EPoll.wait(Native Method)"}}),
				Hot:     []stack.Sample{{Frames: []string{"sun.nio.ch.EPoll.wait"}, Value: 0.003}}, Cores: 0.02,
			}),
			"No deadlock, no queue at a lock and no pool that waits; 11 threads: 11 idle.",
		},
		// W5: "most of the time in (garbage collector)".
		"express": {
			named("node", target.Node, stack.Dump{HotIsSampled: true, Hot: []stack.Sample{{Frames: []string{"(idle)"}, Value: 983}, {Frames: []string{"(garbage collector)"}, Value: 11}}, Samples: 170, Cores: 0.03}),
			"The event loop has time left.",
		},
		"Caddy": {
			named("caddy", target.Go, stack.Dump{Threads: []stack.Thread{{Name: "goroutine 1", State: "select", Idle: true, Minutes: 60}, {Name: "goroutine 9", State: "IO wait", Idle: true}}}),
			"No goroutines are stuck together; 2 goroutines: 2 idle.",
		},
		// W2: "4 waiting for a lock" (jemalloc), "most of the time in [do_epoll_wait]".
		"Redis": {
			named("redis-server", target.Native, stack.Dump{Threads: append(many(4, "jemalloc_bg_thd", stack.Thread{Kernel: futex}), stack.Thread{ID: 1, Name: "redis-server", Kernel: events}), Cores: 0.02}),
			"Nothing computes all the time; 5 threads: 4 waiting (idle, or for a lock), 1 waiting for events.",
		},
		"Puma": {
			named("ruby", target.Ruby, stack.Dump{Threads: many(6, "puma srv tp 00", stack.Thread{Kernel: futex})}),
			"Ruby is seen from outside only, without its stacks: nothing computes all the time; 6 threads: 6 waiting (idle, or for a lock).",
		},
		".NET": {
			named("dotnet", target.DotNet, stack.Dump{Threads: many(6, ".NET TP Worker", stack.Thread{Kernel: futex})}),
			".NET is seen from outside only, without its stacks: nothing computes all the time; 6 threads: 6 waiting (idle, or for a lock).",
		},
		"Erlang": {
			named("beam.smp", target.Unknown, stack.Dump{Threads: many(6, "erts_sched_", stack.Thread{Kernel: futex})}),
			"Erlang is seen from outside only, without its stacks: nothing computes all the time; 6 threads: 6 waiting (idle, or for a lock).",
		},
		"unknown": {
			named("mystery", target.Unknown, stack.Dump{Threads: many(1, "m", stack.Thread{Kernel: clients})}),
			"An unknown program (mystery) is seen from outside only, without its stacks: nothing computes all the time; 1 thread: 1 waiting for a client.",
		},
	} {
		l := lookAt(test.dump.Process.Runtime, test.dump)
		l.target.Process = test.dump.Process
		if got := l.verdict(findings(l)); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
		var out strings.Builder
		l.tell(&out)
		for _, wrong := range []string{"hottest", "[do_", "wait_woken", "RUNNABLE", " for a lock:", "most of the time"} {
			if strings.Contains(out.String(), wrong) {
				t.Errorf("%s: %q in\n%s", name, wrong, out.String())
			}
		}
	}
}

func TestWhatIsWrongIsSaidFirst(t *testing.T) {
	requests := stack.Thread{State: "RUNNABLE", Own: "com.example.Shop.upstream(Shop.java:9)", Frames: []string{"sun.nio.ch.Net.poll(Native Method)"}, Kernel: upstream}
	blocked := stack.Thread{State: "BLOCKED", Own: "com.example.Shop.reserve(Shop.java:3)", WaitsFor: "0x1", WaitsForKind: "java.util.concurrent.locks.ReentrantLock$NonfairSync", Frames: []string{"x"}, Kernel: futex}
	holder := requests
	holder.ID, holder.Name, holder.Holds = 3, "http-nio-8080-exec-30", []string{"0x1"}
	reserve := stack.Thread{State: stack.ForLock, Own: "reserve (web.py:19)", Frames: []string{"reserve (web.py:19)"}, Kernel: futex}
	price := stack.Thread{ID: 3, Name: "ThreadPoolExecutor-0_9", Own: "price_from_upstream (web.py:11)", Frames: []string{"SocketIO.readinto (socket.py:706)"}, Kernel: upstream}
	throttled := stack.Thread{ID: 1, Name: "MainThread", Own: "load (web.py:3)", Frames: []string{"scan (yaml/scanner.py:9)"}, Kernel: thread.Seen{Class: thread.Ready, Running: 0.48, Ready: 0.51, Words: "ready to run, without CPU"}}
	for name, test := range map[string]struct {
		dump *stack.Dump
		want string
	}{
		"W3, a pool of Java": {
			named("java", target.JVM, stack.Dump{Threads: many(10, "http-nio-8080-exec-", requests)}),
			"all 10 http-nio-8080-exec threads wait in Shop.upstream, reading from 10.1.2.3:5432, for 12 s.",
		},
		"W14, behind a lock": {
			named("java", target.JVM, stack.Dump{Threads: append(many(9, "http-nio-8080-exec-", blocked), holder)}),
			"9 threads wait for a lock that http-nio-8080-exec-30 holds in Shop.upstream, reading from 10.1.2.3:5432.",
		},
		"W3, behind a lock of Python, which names no holder": {
			named("gunicorn", target.Python, stack.Dump{Threads: append(many(7, "ThreadPoolExecutor-0_", reserve), price)}),
			"7 of 8 ThreadPoolExecutor-0 threads wait in reserve (web.py:19), for a lock; ThreadPoolExecutor-0_9 is in price_from_upstream (web.py:11), reading from 10.1.2.3:5432.",
		},
		"W4, a busy loop under a limit": {
			named("python3", target.Python, stack.Dump{Threads: []stack.Thread{throttled}, Cores: 0.48, Samples: 10, Hot: []stack.Sample{{Frames: []string{"EpollSelector.select"}, Value: 10}}}),
			"MainThread of python3 computes all the time in load (web.py:3), with 0.48 of a core: it is ready and waits for CPU 51% of the time.",
		},
		"W6, a loop that collects": {
			named("node", target.Node, stack.Dump{HotIsSampled: true, Hot: []stack.Sample{{Frames: []string{"(garbage collector)"}, Value: 63}, {Frames: []string{"f (a.js:1)"}, Value: 35}, {Frames: []string{"(idle)"}, Value: 2}}, Collecting: 0.63}),
			"the garbage collector takes 63% of the time; the event loop is busy 98% of the time.",
		},
		"W7, the collector of a JVM": {
			named("java", target.JVM, stack.Dump{Threads: many(3, "http-nio-8080-exec-", stack.Thread{Idle: true, Kernel: futex}), Collecting: 0.91, Heap: "old generation 99 % of 30 MiB"}),
			"the garbage collector takes 91% of the time (old generation 99 % of 30 MiB).",
		},
		"goroutines that wait for an upstream": {
			named("api", target.Go, stack.Dump{Threads: hung(150)}),
			"150 goroutines wait in main.upstream (main.go:9), for the network, for 3 s.",
		},
	} {
		l := lookAt(test.dump.Process.Runtime, test.dump)
		if got := l.verdict(findings(l)); got != test.want {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func hung(count int) []stack.Thread {
	var threads []stack.Thread
	for number := range count {
		frames := []string{"internal/poll.runtime_pollWait (netpoll.go:1)", "main.upstream (main.go:9)"}
		threads = append(threads, stack.Thread{Name: fmt.Sprintf("goroutine %d", number), State: "IO wait", Own: frames[1], Serves: true, Frames: frames})
	}
	markStill(threads, threads, sample)
	return threads
}

func TestAGoroutineThatRunsAtBothMomentsComputes(t *testing.T) {
	threads := func(second string) []stack.Thread {
		each := stack.Thread{Name: "goroutine 7", State: "runnable", Own: "main.hash (main.go:3)", Frames: []string{"main.hash (main.go:3)"}}
		now := each
		now.State = second
		threads := []stack.Thread{now}
		markStill(threads, []stack.Thread{each}, sample)
		return threads
	}
	for name, test := range map[string]struct {
		state string
		busy  float64
		want  string
	}{
		"it runs":                         {"running", 0.95, "goroutine 7 of api computes all the time in main.hash (main.go:3), with 0.30 of a core: it is ready and waits for CPU 65% of the time."},
		"it waits the second time":        {"select", 0.95, "api uses 0.30 of a core; no goroutines are stuck together; 1 goroutine: 1 waiting for channels."},
		"the process computes for a part": {"running", 0.5, "api uses 0.30 of a core; no goroutines are stuck together; 1 goroutine: 1 computing."},
	} {
		l := lookAt(target.Go, named("api", target.Go, stack.Dump{Threads: threads(test.state), Cores: 0.3, Busy: test.busy}))
		if got := l.verdict(findings(l)); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A goroutine that has moved on is no goroutine that waits.
func TestOnlyGoroutinesThatStayedCount(t *testing.T) {
	before := hung(9)
	now := hung(9)
	for index := range now {
		now[index].Kernel.Waited = 0
		now[index].Frames = []string{"main.other (main.go:1)"}
	}
	markStill(now, before, sample)
	if got := codes(lookAt(target.Go, &stack.Dump{Threads: now})); got != "" {
		t.Error(got)
	}
}

func TestAShareOfTheTimeIsToldOfEnoughOnly(t *testing.T) {
	dump := func(samples int, cores float64) *stack.Dump {
		return named("python3", target.Python, stack.Dump{Samples: samples, Cores: cores, HotIsSampled: true, Hot: []stack.Sample{{Frames: []string{"price (web.py:1)"}, Value: float64(samples)}}})
	}
	for name, test := range map[string]struct {
		dump *stack.Dump
		want string
	}{
		"enough":             {dump(50, 0.2), "No thread computes all the time and no pool waits; python3 uses 0.20 of a core, 100% of it in price (web.py:1)."},
		"too few samples":    {dump(49, 0.5), "No thread computes all the time and no pool waits; python3 uses 0.50 of a core."},
		"too little of core": {dump(90, 0.19), "No thread computes all the time and no pool waits."},
	} {
		l := lookAt(target.Python, test.dump)
		if got := l.verdict(findings(l)); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// An event loop may wait at its events alone.
func TestAnEventLoopThatWaitsInAFunctionIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		change func(each *stack.Thread)
		want   string
	}{
		"it reads from a peer": {func(*stack.Thread) {}, "the event loop of shop waits in price (shop.py:3), reading from 10.1.2.3:5432, for 12 s: nothing else of it runs"},
		"it sleeps": {func(each *stack.Thread) {
			each.Kernel = thread.Seen{Class: thread.Timer, Words: "sleeping", Waited: 2 * time.Second}
		}, "the event loop of shop waits in price (shop.py:3), sleeping, for 2 s: nothing else of it runs"},
		"for a moment":             {func(each *stack.Thread) { each.Kernel.Waited, each.Kernel.Running = time.Millisecond, 0.1 }, ""},
		"at its events":            {func(each *stack.Thread) { each.Kernel.Class = thread.Queue }, ""},
		"it computes":              {func(each *stack.Thread) { each.Kernel.Class = thread.OnCPU }, ""},
		"a thread that is not one": {func(each *stack.Thread) { each.InLoop = false }, ""},
	} {
		each := stack.Thread{ID: 1, Name: "MainThread", Own: "price (shop.py:3)", InLoop: true, Kernel: thread.Seen{Class: thread.Socket, Words: "reading from 10.1.2.3:5432", Peer: "10.1.2.3:5432", Waited: 12 * time.Second}}
		test.change(&each)
		found := findings(lookAt(target.Python, named("shop", target.Python, stack.Dump{Threads: []stack.Thread{each}})))
		got := ""
		if len(found) > 0 {
			got = found[0].Text
		}
		if got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A name server that is silent: of Ruby no frames are known, of Python they are.
func TestThreadsThatWaitForANameServerNameIt(t *testing.T) {
	waiting := stack.Thread{Kernel: thread.Seen{Class: thread.Socket, Peer: "10.0.0.10:53", Words: thread.Names + "10.0.0.10:53"}}
	python := waiting
	python.Own, python.Frames = "getaddrinfo (shop.py:3)", []string{"getaddrinfo (shop.py:3)"}
	loop := python
	loop.ID, loop.Name, loop.InLoop = 1, "MainThread", true
	same := func(count int) []stack.Thread {
		threads := many(count, "", waiting)
		for index := range threads {
			threads[index].Name = "server.rb:289"
		}
		return threads
	}
	for name, test := range map[string]struct {
		dump *stack.Dump
		want string
	}{
		"Ruby":          {named("ruby", target.Ruby, stack.Dump{Threads: same(5)}), "all 5 server.rb:289 threads wait for the name server 10.0.0.10:53."},
		"Ruby, fewer":   {named("ruby", target.Ruby, stack.Dump{Threads: same(3)}), "3 threads wait for the name server 10.0.0.10:53; ruby is seen from outside only, without its stacks: nothing computes all the time; 3 threads: 3 waiting for the name server 10.0.0.10:53."},
		"Python":        {named("gunicorn", target.Python, stack.Dump{Threads: many(5, "worker-", python)}), "all 5 worker threads wait in getaddrinfo (shop.py:3), for the name server 10.0.0.10:53."},
		"an event loop": {named("shop", target.Python, stack.Dump{Threads: []stack.Thread{loop}}), "the event loop of shop waits in getaddrinfo (shop.py:3), for the name server 10.0.0.10:53: nothing else of it runs."},
	} {
		l := lookAt(test.dump.Process.Runtime, test.dump)
		if got := l.verdict(findings(l)); got != test.want || !l.isUnsure() && len(findings(l)) == 0 {
			t.Errorf("%s: %s", name, got)
		}
	}
	answered := waiting
	answered.Kernel.Runs, answered.Kernel.Running = 30, 0.05
	if l := lookAt(target.Ruby, named("ruby", target.Ruby, stack.Dump{Threads: many(9, "r-", answered)})); codes(l) != "" || l.isUnsure() {
		t.Errorf("of a healthy one: %s", l.verdict(findings(l)))
	}
}

// A tick is for the pod, not for its threads alone.
func TestAContainerThatIsAboutToBeKilledIsNotCalledWell(t *testing.T) {
	mib := func(count int64) cgroup.Amount { return cgroup.Amount{Value: count << 20, Known: true} }
	for name, test := range map[string]struct {
		memory cgroup.Memory
		want   string
	}{
		"nearly full":          {cgroup.Memory{Used: mib(245), Limit: mib(256), Inactive: mib(5)}, "memory at 93% of its limit (240 of 256 MiB)."},
		"a process was killed": {cgroup.Memory{Used: mib(30), Limit: mib(256), Kills: cgroup.Amount{Value: 1, Known: true}}, "the kernel killed 1 process of the target for lack of memory."},
		"full of cache":        {cgroup.Memory{Used: mib(256), Limit: mib(256), Inactive: mib(200)}, "No thread computes all the time and no pool waits."},
		"at 90 %":              {cgroup.Memory{Used: mib(90), Limit: mib(100)}, "No thread computes all the time and no pool waits."},
		"no limit":             {cgroup.Memory{Used: mib(900)}, "No thread computes all the time and no pool waits."},
		"nobody can tell":      {cgroup.Memory{}, "No thread computes all the time and no pool waits."},
	} {
		l := lookAt(target.Python, named("shop", target.Python, stack.Dump{}))
		l.memory = test.memory
		if got := l.verdict(findings(l)); got != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestWhatMayBeWrongIsNotCalledWell(t *testing.T) {
	request := stack.Thread{ID: 1, Name: "worker", Own: "price (shop.py:3)", Serves: true, Kernel: thread.Seen{Class: thread.Socket, Words: "reading from 10.1.2.3:5432", Waited: 4 * time.Second}}
	news := request
	news.Serves = false
	idle := news
	idle.Idle = true
	polling := request
	polling.Kernel = thread.Seen{Class: thread.Timer, Words: "sleeping", Running: 0.01}
	for name, test := range map[string]struct {
		dump   stack.Dump
		unsure bool
		want   string
	}{
		"a request that waits":                         {stack.Dump{Threads: []stack.Thread{request}}, true, "worker waits in price (shop.py:3), reading from 10.1.2.3:5432, in a request; no thread computes all the time and no pool waits; 1 thread: 1 reading from 10.1.2.3:5432."},
		"one that waits for news":                      {stack.Dump{Threads: []stack.Thread{news}}, true, "worker waits in price (shop.py:3), reading from 10.1.2.3:5432; no thread computes all the time and no pool waits; 1 thread: 1 reading from 10.1.2.3:5432."},
		"a worker without work":                        {stack.Dump{Threads: []stack.Thread{idle}}, false, "No thread computes all the time and no pool waits; 1 thread: 1 idle."},
		"requests that sleep a little again and again": {stack.Dump{Threads: []stack.Thread{polling, polling}}, true, "2 threads wait in price (shop.py:3), sleeping, in a request; no thread computes all the time and no pool waits; 2 threads: 2 sleeping."},
		"file operations":                              {stack.Dump{Doubt: "8 file operations are under way"}, true, "8 file operations are under way; no thread computes all the time and no pool waits."},
		"half of a core":                               {stack.Dump{Cores: 0.45, Busy: 0.5}, true, "shop uses 0.45 of a core; no thread computes all the time and no pool waits."},
		"less":                                         {stack.Dump{Cores: 0.45, Busy: 0.49}, false, "No thread computes all the time and no pool waits; shop uses 0.45 of a core."},
		"a full heap":                                  {stack.Dump{HeapFull: true, Heap: "old generation 99 % of 30 MiB"}, true, "The heap of shop is nearly full, old generation 99 % of 30 MiB; no thread computes all the time and no pool waits."},
	} {
		l := lookAt(target.Python, named("shop", target.Python, test.dump))
		if got := l.verdict(nil); got != test.want || l.isUnsure() != test.unsure {
			t.Errorf("%s: %v %q", name, l.isUnsure(), got)
		}
	}
}

func TestAttemptsThatAreRefusedAreFound(t *testing.T) {
	l := lookAt(target.Go, &stack.Dump{})
	l.attempts = sockets.View{Sample: sockets.Counters{Opened: 9, Failed: 9}, Failed: map[netip.AddrPort]int{netip.MustParseAddrPort("10.1.2.3:5432"): 9}}
	if found := findings(l); len(found) != 1 || found[0].Text != "9 attempts to connect to 10.1.2.3:5432 were refused or led nowhere within the sample, of 9 of the pod" {
		t.Errorf("%+v", found)
	}
}

// Go names neither who reads a channel nor who holds a mutex.
func TestGoroutinesThatWaitTogetherAreFound(t *testing.T) {
	waiting := func(count int, state string, waited time.Duration) *look {
		var threads []stack.Thread
		for number := range count {
			each := stack.Thread{Name: fmt.Sprintf("goroutine %d", number), State: state, Own: "main.audit (main.go:57)", Frames: []string{"main.audit (main.go:57)"}}
			each.Kernel.Waited = waited
			threads = append(threads, each)
		}
		return lookAt(target.Go, named("shop", target.Go, stack.Dump{Threads: threads}))
	}
	for name, test := range map[string]struct {
		look *look
		want string
	}{
		"they send":              {waiting(21, "chan send", time.Second), "21 goroutines wait in main.audit (main.go:57) to send to a channel that is not read"},
		"few send":               {waiting(20, "chan send", time.Second), ""},
		"they send for a moment": {waiting(21, "chan send", time.Millisecond), ""},
		"they receive":           {waiting(2000, "chan receive", time.Second), ""},
		"a mutex":                {waiting(5, "sync.Mutex.Lock", time.Second), "5 goroutines wait for a lock in main.audit (main.go:57)"},
		"few at a mutex":         {waiting(4, "sync.Mutex.Lock", time.Second), ""},
	} {
		got := ""
		for _, each := range findings(test.look) {
			got += each.Text
		}
		if got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestClientsThatWaitAndARefusedAttemptForbidATick(t *testing.T) {
	l := lookAt(target.Python, named("shop", target.Python, stack.Dump{}))
	l.attempts.Sample = sockets.Counters{Opened: 3, Failed: 1}
	if got := l.verdict(nil); !l.isUnsure() || !strings.HasPrefix(got, "1 attempt to connect was refused or led nowhere within the sample, of 3 of the pod; ") {
		t.Error(got)
	}
}

func TestAFileThatIsLockedIsNoCalm(t *testing.T) {
	each := stack.Thread{ID: 1, Kernel: thread.Seen{Class: thread.Other, Words: thread.FileLock, Waited: 2 * time.Second}}
	l := lookAt(target.Native, named("perl", target.Native, stack.Dump{Threads: []stack.Thread{each}}))
	if got := l.verdict(nil); !strings.HasPrefix(got, "Nothing computes all the time; 1 thread: 1 waiting for a lock on a file") {
		t.Error(got)
	}
}

// What the kernel shows does not hide that the runtime was not asked.
func TestAFindingFromOutsideComesWithWhatLacks(t *testing.T) {
	busy := stack.Thread{ID: 1, Name: "java", Kernel: thread.Seen{Class: thread.OnCPU, Running: 0.95}}
	l := lookAt(target.JVM, named("java", target.JVM, stack.Dump{Threads: []stack.Thread{busy}, Lack: &target.Lack{Lacks: "attaching is forbidden"}}))
	if got := l.verdict(findings(l)); got != "java computes all the time, with 0.95 of a core; could not look into it: what lacks is attaching is forbidden." {
		t.Error(got)
	}
}

// What lacks may be long, and a first line is cut.
func TestWhoWaitsStandsBeforeWhatLacks(t *testing.T) {
	l := lookAt(target.Go, named("shop", target.Go, stack.Dump{Lack: &target.Lack{Lacks: "net/http/pprof at a port of the target"}, Cores: 0.3}))
	l.attempts.Sample = sockets.Counters{Opened: 3, Failed: 1}
	want := "shop uses 0.30 of a core; 1 attempt to connect was refused or led nowhere within the sample, of 3 of the pod; could not look: what lacks is net/http/pprof at a port of the target."
	if got := l.verdict(nil); got != want {
		t.Error(got)
	}
}
