package stack

import (
	"fmt"
	"testing"
	"time"

	"kdebug/tools/internal/thread"
)

func pool(count int, like Thread) []Thread {
	var threads []Thread
	for number := range count {
		each := like
		each.ID, each.Name = 10+number, fmt.Sprintf("http-nio-8080-exec-%d", number+1)
		threads = append(threads, each)
	}
	return threads
}

var upstream = thread.Seen{Class: thread.Socket, Peer: "10.1.2.3:5432", Waited: 12 * time.Second, Words: "reading from 10.1.2.3:5432"}

func with(change func(*Thread)) Thread {
	each := Thread{State: "RUNNABLE", Own: "Shop.upstream(Shop.java:9)", Frames: []string{"x"}, Kernel: upstream}
	change(&each)
	return each
}

func TestAPoolWaitsWhereItsThreadsWaitForWhatShouldCome(t *testing.T) {
	same := with(func(*Thread) {})
	other := with(func(each *Thread) {
		each.Own, each.Kernel.Class, each.State = "Shop.other(Shop.java:3)", thread.Lock, "BLOCKED"
	})
	first, second := same, same
	first.Own, second.Own = "transfer (worker.py:9)", "transfer (worker.py:11)"
	for name, test := range map[string]struct {
		threads []Thread
		want    int
	}{
		"all of five":                   {pool(5, same), 5},
		"four":                          {pool(4, same), 0},
		"eight of ten":                  {append(pool(8, same), pool(2, other)...), 8},
		"two lines of one function":     {append(pool(6, first), pool(2, second)...), 8},
		"seven of ten":                  {append(pool(7, same), pool(3, other)...), 0},
		"no frames, one peer":           {pool(5, with(func(each *Thread) { each.Own = "" })), 5},
		"no frames, nothing known":      {pool(5, with(func(each *Thread) { each.Own, each.Kernel.Peer = "", "" })), 0},
		"idle workers":                  {pool(9, with(func(each *Thread) { each.Idle = true })), 0},
		"they wait for clients":         {pool(9, with(func(each *Thread) { each.Kernel.Class = thread.Queue })), 0},
		"each waits for a moment":       {pool(9, with(func(each *Thread) { each.Kernel.Waited, each.Kernel.Runs = 50*time.Millisecond, 30 })), 0},
		"each waits for a second":       {pool(9, with(func(each *Thread) { each.Kernel.Waited, each.Kernel.Runs = time.Second, 30 })), 9},
		"they compute":                  {pool(9, with(func(each *Thread) { each.Kernel.Class, each.Kernel.Running = thread.OnCPU, 0.9 })), 0},
		"they sleep between two turns":  {pool(9, with(func(each *Thread) { each.Kernel.Class = thread.Timer })), 0},
		"they sleep inside a request":   {pool(9, with(func(each *Thread) { each.Kernel.Class, each.Serves = thread.Timer, true })), 9},
		"a futex that nobody explains":  {pool(9, with(func(each *Thread) { each.Kernel.Class = thread.Lock })), 0},
		"a futex inside a request":      {pool(9, with(func(each *Thread) { each.Kernel.Class, each.Serves = thread.Lock, true })), 9},
		"a lock":                        {pool(9, with(func(each *Thread) { each.Kernel.Class, each.State = thread.Lock, "BLOCKED" })), 9},
		"the kernel was not asked":      {pool(9, with(func(each *Thread) { each.Kernel = thread.Seen{} })), 0},
		"goroutines that did not move":  {goroutines(9, time.Second*3, true), 9},
		"goroutines at the same moment": {goroutines(9, 0, true), 0},
		"consumers of a queue":          {goroutines(9, time.Second*3, false), 0},
	} {
		found := Pools(test.threads)
		if got := 0; len(found) > 0 {
			got = len(found[0].Waiting)
			if got != test.want {
				t.Errorf("%s: %d wait", name, got)
			}
		} else if test.want > 0 {
			t.Errorf("%s: none", name)
		}
	}
}

// A request has several goroutines, and most of them are the runtime's: only those in the program's own code are a pool.
func goroutines(count int, passed time.Duration, serves bool) []Thread {
	var threads []Thread
	for number := range count {
		threads = append(threads,
			Thread{Name: fmt.Sprintf("goroutine %d", 2*number), State: "IO wait", Own: "main.upstream (main.go:9)", Serves: serves, Kernel: thread.Seen{Waited: passed}},
			Thread{Name: fmt.Sprintf("goroutine %d", 2*number+1), State: "select", Frames: []string{"net/http.(*persistConn).readLoop"}})
	}
	return threads
}

func TestAPoolSaysWhereTheLastOneIsAndHowLongAllHaveWaited(t *testing.T) {
	locked := with(func(each *Thread) {
		each.Own, each.State = "Shop.reserve(Shop.java:3)", "BLOCKED"
		each.Kernel = thread.Seen{Class: thread.Lock}
	})
	found := Pools(append(pool(7, locked), pool(1, with(func(*Thread) {}))...))
	if len(found) != 1 || found[0].Other == nil || found[0].Other.Kernel.Peer != "10.1.2.3:5432" || found[0].Total != 8 {
		t.Fatalf("%+v", found)
	}
	threads := pool(5, with(func(*Thread) {}))
	threads[3].Kernel.Waited = 9 * time.Second
	if found = Pools(threads); found[0].Waited != 9*time.Second || found[0].Peer != "10.1.2.3:5432" {
		t.Errorf("%+v", found)
	}
}

func TestThreadsOfOnePoolDifferInTheirNumber(t *testing.T) {
	for name, want := range map[string]string{
		"http-nio-8080-exec-10":             "http-nio-8080-exec",
		"ThreadPoolExecutor-0_7":            "ThreadPoolExecutor-0",
		"Thread-12 (process_request)":       "Thread (process_request)",
		"puma srv tp 001":                   "puma srv tp",
		"goroutine 17":                      "goroutine",
		"12":                                "12",
		"pool-1-thread-3":                   "pool-1-thread",
		"HikariPool-1 housekeeper":          "HikariPool-1 housekeeper",
		"nginx: worker process (processes)": "nginx: worker process (processes)",
	} {
		if got := poolName(name); got != want {
			t.Errorf("%q became %q", name, got)
		}
	}
}

func TestTheRuntimesWordAloneDecidesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		thread Thread
		want   string
	}{
		"RUNNABLE, in a read":         {Thread{ID: 1, State: "RUNNABLE", Kernel: upstream}, "reading from 10.1.2.3:5432"},
		"RUNNABLE, an event loop":     {Thread{ID: 1, State: "RUNNABLE", Idle: true, Kernel: thread.Seen{Class: thread.Queue, Words: "waiting for events"}}, "idle"},
		"RUNNABLE, and it runs":       {Thread{ID: 1, State: "RUNNABLE", Idle: true, Kernel: thread.Seen{Class: thread.OnCPU, Words: "computing"}}, "computing"},
		"any futex":                   {Thread{ID: 1, Kernel: thread.Seen{Class: thread.Lock, Words: "waiting (idle, or for a lock)"}}, "waiting (idle, or for a lock)"},
		"BLOCKED":                     {Thread{ID: 1, State: "BLOCKED", Kernel: thread.Seen{Class: thread.Lock, Words: "x"}}, "waiting for a lock"},
		"parked for a lock":           {Thread{ID: 1, State: "WAITING", WaitsFor: "1", WaitsForKind: "java.util.concurrent.locks.ReentrantLock$NonfairSync", Kernel: thread.Seen{Class: thread.Lock, Words: "x"}}, "waiting for a lock"},
		"parked at an empty queue":    {Thread{ID: 1, State: "WAITING", WaitsFor: "1", WaitsForKind: "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", Kernel: thread.Seen{Class: thread.Lock, Words: "x"}}, "waiting"},
		"a goroutine at a mutex":      {Thread{State: "sync.Mutex.Lock"}, "waiting for a lock"},
		"a goroutine without a class": {Thread{State: "chan receive"}, "waiting for a channel"},
	} {
		if got := Does(test.thread); got != test.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAPoolsNameEndsInNoSignThatLedToANumber(t *testing.T) {
	for want, names := range map[string][]string{
		"server.rb:289":      {"server.rb:289", "server.rb:289", "server.rb:289", "server.rb:289", "server.rb:289"},
		"server.rb":          {"server.rb:289", "server.rb:290", "server.rb:289", "server.rb:289", "server.rb:289"},
		"uWSGIWorker1Core":   {"uWSGIWorker1Core0", "uWSGIWorker1Core1", "uWSGIWorker1Core2", "uWSGIWorker1Core3", "uWSGIWorker1Core4"},
		"php":                {"php.1", "php.2", "php.3", "php.4", "php.5"},
		"handler (GET)":      {"handler 1 (GET)", "handler 2 (GET)", "handler 3 (GET)", "handler 4 (GET)", "handler 5 (GET)"},
		"php8.2 (processes)": {"php8.2 (processes)", "php8.2 (processes)", "php8.2 (processes)", "php8.2 (processes)", "php8.2 (processes)"},
	} {
		threads := pool(5, with(func(*Thread) {}))
		for index := range threads {
			threads[index].Name = names[index]
		}
		if found := Pools(threads); len(found) != 1 || found[0].Name != want {
			t.Errorf("%q: %+v", want, found)
		}
	}
}
