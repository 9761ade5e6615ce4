package jvm

import (
	"fmt"
	"strings"
	"testing"

	"kdebug/tools/internal/stack"
)

const dump17 = `2026-11-23 00:55:04
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1deb12u1 mixed mode, sharing):

"Finalizer" #3 daemon prio=8 os_prio=0 cpu=0.16ms elapsed=1.82s tid=0x00007fb9 nid=0x741 in Object.wait()  [0x00007fb9705de000]
   java.lang.Thread.State: WAITING (on object monitor)
	at java.lang.Object.wait(java.base@17.0.15/Native Method)
	- waiting on <0x000000069ec02f40> (a java.lang.ref.ReferenceQueue$Lock)
	at java.lang.ref.ReferenceQueue.remove(java.base@17.0.15/ReferenceQueue.java:155)
	- locked <0x000000069ec02f40> (a java.lang.ref.ReferenceQueue$Lock)

   Locked ownable synchronizers:
	- None

"left "quoted"" #12 prio=5 os_prio=0 cpu=0.21ms elapsed=1.76s tid=0x00007fb9 nid=0x74b waiting for monitor entry  [0x00007fb94939d000]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at Dl.left(Dl.java:3)
	- waiting to lock <0x000000069ec194e8> (a java.lang.Object)
	- locked <0x000000069ec194d8> (a java.lang.Class for Dl)

"right" #13 [1868] prio=5 os_prio=0 cpu=0.12ms elapsed=1.76s tid=0x00007fb9 nid=1868 waiting on condition  [0x00007fb94929d000]
   java.lang.Thread.State: WAITING (parking)
	at jdk.internal.misc.Unsafe.park(java.base@21/Native Method)
	- parking to wait for  <0x000000069ec194d8> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)
	at Dl.right(Dl.java:4)

   Locked ownable synchronizers:
	- <0x000000069ec194e8> (a java.util.concurrent.locks.ReentrantLock$NonfairSync)

"VM Thread" os_prio=0 cpu=0.49ms elapsed=1.84s tid=0x00007fb96c0f4400 nid=0x73f runnable

Found one Java-level deadlock:
=============================
"left "quoted"":
  waiting to lock monitor 0x00007fb8c8067ac0 (object 0x000000069ec194e8, a java.lang.Object),
  which is held by "right"

"right":
  waiting for ownable synchronizer 0x000000069ec194d8, (a java.util.concurrent.locks.ReentrantLock$NonfairSync),
  which is held by "left "quoted""

Java stack information for the threads listed above:
===================================================
"left "quoted"":
	at Dl.left(Dl.java:3)

Found 1 deadlock.
`

func TestThreadsLocksAndDeadlocksAreRead(t *testing.T) {
	threads, deadlocks := Parse(dump17)
	if len(threads) != 3 {
		t.Fatalf("%d threads: %+v", len(threads), threads)
	}
	if fmt.Sprintf("%q", deadlocks) != `[["left \"quoted\"" "right"]]` {
		t.Errorf("%q", deadlocks)
	}
	left, right := threads[1], threads[2]
	if left.ID != 0x74b || right.ID != 1868 || left.State != "BLOCKED" || len(left.Frames) != 1 || left.Frames[0] != "Dl.left(Dl.java:3)" {
		t.Errorf("%+v %+v", left, right)
	}
	locks := stack.Locks(threads)
	if len(locks) != 2 || locks[0].Holder != `left "quoted"` || locks[1].Holder != "right" || locks[1].Waiters[0] != `left "quoted"` {
		t.Errorf("%+v", locks)
	}
}

// Who waits for a notification still has "locked" under it, but gave the monitor up for that time (Object.wait).
const dumpOfWaiter = `
"taker" #12 prio=5 tid=0x00007fb9 nid=0x74b runnable  [0x00007fb94939d000]
   java.lang.Thread.State: RUNNABLE
	at Pool.grow(Pool.java:9)
	- locked <0x000000069ec194e8> (a Pool)

"idle" #13 prio=5 tid=0x00007fb9 nid=0x74c in Object.wait()  [0x00007fb94939d000]
   java.lang.Thread.State: WAITING (on object monitor)
	at java.lang.Object.wait0(java.base@21/Native Method)
	- waiting on <0x000000069ec194e8> (a Pool)
	at Pool.idle(Pool.java:20)
	- locked <0x000000069ec194e8> (a Pool)
	at Pool.run(Pool.java:30)
	- locked <0x000000069ec194d8> (a Worker)

"asker" #14 prio=5 tid=0x00007fb9 nid=0x74d waiting for monitor entry  [0x00007fb94939d000]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at Pool.take(Pool.java:4)
	- waiting to lock <0x000000069ec194e8> (a Pool)
`

func TestWhoWaitsForANotificationDoesNotHoldTheMonitor(t *testing.T) {
	threads, _ := Parse(dumpOfWaiter)
	locks := stack.Locks(threads)
	if len(locks) != 1 || locks[0].Holder != "taker" || fmt.Sprint(locks[0].Waiters) != "[asker]" {
		t.Errorf("%+v", locks)
	}
	if len(threads) != 3 || fmt.Sprint(threads[1].Holds) != "[0x000000069ec194d8]" {
		t.Errorf("%+v", threads)
	}
}

// As JDK 9 to 17 say it.
func TestOnlyWhoIsBlockedWaitsForTheMonitorOfANotification(t *testing.T) {
	older := strings.NewReplacer(
		"- waiting on <0x000000069ec194e8> (a Pool)", "- waiting on <no object reference available>",
		"idle(Pool.java:20)\n\t- locked", "idle(Pool.java:20)\n\t- waiting to re-lock in wait()",
	).Replace(dumpOfWaiter)
	for state, waiters := range map[string]string{"WAITING": "[asker]", "TIMED_WAITING": "[asker]", "BLOCKED": "[idle asker]"} {
		threads, _ := Parse(strings.Replace(older, "WAITING (on", state+" (on", 1))
		if locks := stack.Locks(threads); len(locks) != 1 || locks[0].Holder != "taker" || fmt.Sprint(locks[0].Waiters) != waiters {
			t.Errorf("%s: %+v", state, locks)
		}
	}
}

func TestTheVersionIsInTheDump(t *testing.T) {
	for line, version := range map[string]string{
		"Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6-Debian-1deb12u1 mixed mode, sharing):": "17.0.15+6",
		"Full thread dump OpenJDK 64-Bit Server VM (21.0.2+13-LTS mixed mode, sharing):":             "21.0.2+13",
		"Full thread dump Java HotSpot(TM) 64-Bit Server VM (25.202-b08 mixed mode):":                "25.202",
	} {
		found := versionLine.FindStringSubmatch(line)
		if found == nil || found[1] != version {
			t.Errorf("%q: %q", line, found)
		}
	}
}

func TestWhatIsNoDumpHasNoThreads(t *testing.T) {
	for _, text := range []string{"", "\"x\" nid=zz", "Found one Java-level deadlock:\n\"a\":", "\tat nothing"} {
		if threads, _ := Parse(text); len(threads) != 0 {
			t.Errorf("%q: %+v", text, threads)
		}
	}
}

func TestParseBoundsDeadlocks(t *testing.T) {
	text := strings.Repeat("Found one Java-level deadlock:\n"+strings.Repeat("\"a\":\n", 500), 500)
	_, deadlocks := Parse(text)
	if len(deadlocks) != maxDeadlocks || len(deadlocks[0]) != maxDeadlocked {
		t.Errorf("%d deadlocks", len(deadlocks))
	}
}
