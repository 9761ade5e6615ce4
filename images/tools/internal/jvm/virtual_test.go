package jvm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/thread"
)

const virtual25 = `{"threadDump": {"processId": "1", "threadContainers": [
 {"container": "<root>", "threads": [
  {"tid": "3", "name": "main", "state": "RUNNABLE", "stack": ["Shop.main(Shop.java:6)"], "monitorsOwned": [{"depth": 0, "locks": ["Pool@1"]}]},
  {"tid": "22", "virtual": true, "name": "", "state": "BLOCKED", "blockedOn": "Pool@1", "stack": ["app//Shop.take(Shop.java:5)", "java.base\/java.lang.VirtualThread.run(VirtualThread.java:460)"]},
  {"tid": "24", "virtual": true, "name": "req-1", "state": "WAITING", "parkBlocker": {"object": "java.util.concurrent.locks.ReentrantLock$NonfairSync@7"},
   "stack": ["java.base\/java.lang.VirtualThread.park(VirtualThread.java:784)", "Shop$$Lambda/0x0000000053002d20.run(Unknown Source)"]}
 ]}, {"container": "other", "threads": []}]}}`

// JDK 21 says neither who is virtual nor what a thread does.
const virtual21 = `{"threadDump": {"threadContainers": [{"threads": [
  {"tid": 3, "name": "main", "stack": ["Shop.main(Shop.java:6)"]},
  {"tid": 22, "name": "", "stack": ["java.base/java.lang.VirtualThread.park(VirtualThread.java:582)", "Shop.take(Shop.java:5)"]}]}]}}`

func TestVirtualThreadsAreRead(t *testing.T) {
	platform := []stack.Thread{{ID: 77, Name: "main", State: "RUNNABLE", Frames: []string{"Shop.main(Shop.java:6)"}}}
	threads, err := ParseVirtual([]byte(virtual25), platform, map[string]int{"3": 77})
	if err != nil || len(threads) != 2 {
		t.Fatalf("%v %+v", err, threads)
	}
	if first := threads[0]; first.Name != "virtual 22" || first.State != "BLOCKED" || first.Own != "Shop.take(Shop.java:5)" || first.Frames[1] != "java.lang.VirtualThread.run(VirtualThread.java:460)" {
		t.Errorf("%+v", first)
	}
	if second := threads[1]; second.Name != "req-1" || second.WaitsForKind != "java.util.concurrent.locks.ReentrantLock$NonfairSync" || second.Frames[1] != "Shop$$Lambda/0x0000000053002d20.run(Unknown Source)" {
		t.Errorf("%+v", second)
	}
	locks := stack.Locks(append(platform, threads...))
	if len(locks) != 1 || locks[0].Holder != "main" || fmt.Sprint(locks[0].Waiters) != "[virtual 22]" {
		t.Errorf("%+v", locks)
	}
}

func TestVirtualThreadsOfJDK21AreThoseThatAreNoOthers(t *testing.T) {
	threads, err := ParseVirtual([]byte(virtual21), nil, map[string]int{"3": 77})
	if err != nil || len(threads) != 1 || threads[0].Name != "virtual 22" || threads[0].State != "WAITING" {
		t.Errorf("%v %+v", err, threads)
	}
}

func TestADumpOfVirtualThreadsMayBeAnything(t *testing.T) {
	for _, text := range []string{"", "{", "[]", `{"threadDump": 1}`, virtual25[:200]} {
		if threads, err := ParseVirtual([]byte(text), nil, nil); err == nil {
			t.Errorf("%q: %+v", text, threads)
		}
	}
	many := `{"threadDump":{"threadContainers":[{"threads":[` + strings.Repeat(`{"tid":"9","virtual":true},`, MaxThreads+5) + `{"tid":"9","virtual":true}]}]}}`
	if threads, err := ParseVirtual([]byte(many), nil, nil); err != nil || len(threads) != MaxThreads {
		t.Errorf("%d threads, %v", len(threads), err)
	}
}

func TestAVirtualThreadThatStaysHasWaited(t *testing.T) {
	read := []string{"java.lang.VirtualThread.park(VirtualThread.java:1)", "sun.nio.ch.NioSocketImpl.implRead(NioSocketImpl.java:2)", "Shop.upstream(Shop.java:3)", "sun.net.httpserver.ServerImpl$Exchange.run(ServerImpl.java:4)"}
	of := func(name, state string, frames ...string) stack.Thread {
		return threadOf(virtualThread{Name: name, State: state, Stack: frames}, "7", nil)
	}
	first := []stack.Thread{of("stays", "WAITING", read...), of("moves", "WAITING", "Shop.a(Shop.java:1)"), of("runs", "RUNNABLE", "Shop.a(Shop.java:1)")}
	second := []stack.Thread{of("stays", "WAITING", read...), of("moves", "WAITING", "Shop.b(Shop.java:1)"), of("runs", "RUNNABLE", "Shop.a(Shop.java:1)"), of("is new", "WAITING", read...)}
	stayed(first, second, 2*time.Second)
	if second[0].Kernel.Waited != 2*time.Second || second[1].Kernel.Waited+second[2].Kernel.Waited+second[3].Kernel.Waited != 0 {
		t.Errorf("%+v", second)
	}
	if second[2].Kernel.Class != thread.OnCPU || second[1].Kernel.Class != "" {
		t.Errorf("it runs both times: %+v, it moves: %+v", second[2], second[1])
	}
	if each := second[0]; each.Kernel.Class != thread.Socket || each.Kernel.Words != "reading from a connection" || each.Own != "Shop.upstream(Shop.java:3)" || !each.Serves {
		t.Errorf("%+v", each)
	}
}

func TestTheIdsOfPlatformThreadsAreInTheDump(t *testing.T) {
	ids := javaIDs("\"main\" #1 prio=5 tid=0x0 nid=0x74b runnable\n\"a #9 b\" #12 [1868] daemon nid=1868 waiting\n\"VM Thread\" os_prio=0 nid=0x73f runnable\n")
	if fmt.Sprint(ids) != "map[1:1867 12:1868]" {
		t.Error(ids)
	}
}

func TestOnlyAJVMWithVirtualThreadsIsAskedForThem(t *testing.T) {
	for name, each := range map[string]struct {
		runtime string
		thread  stack.Thread
		want    bool
	}{
		"JDK 25":                    {"JVM 25.0.3+9", stack.Thread{Name: "VirtualThread-unblocker"}, true},
		"JDK 21":                    {"JVM 21.0.2+13", stack.Thread{Name: "ForkJoinPool-1-worker-1"}, true},
		"JDK 17 with a pool":        {"JVM 17.0.15+6", stack.Thread{Name: "ForkJoinPool-1-worker-1"}, false},
		"JDK 25 without":            {"JVM 25.0.3+9", stack.Thread{Name: "main"}, false},
		"a JVM without its version": {"JVM", stack.Thread{Name: "VirtualThread-unblocker"}, false},
	} {
		if got := hasVirtual(&stack.Dump{Runtime: each.runtime, Threads: []stack.Thread{each.thread}}); got != each.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestNamesOfVirtualThreadsWriteNoLinesOfTheirOwn(t *testing.T) {
	const evil = "x\n\x1b[2J\u202e"
	text := textOf([]stack.Thread{{Name: evil, State: evil, WaitsFor: evil, Frames: []string{evil}}})
	if text != "\n\"x??[2J?\" x??[2J?\n\t- waits for x??[2J?\n\tat x??[2J?\n" {
		t.Errorf("%q", text)
	}
}
