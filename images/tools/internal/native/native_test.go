package native

import (
	"os"
	"testing"

	"kdebug/tools/internal/target"
)

func TestTheStacksOfGDBAreRead(t *testing.T) {
	threads := Parse(`[New LWP 7]

Thread 2 (LWP 7 "worker"):
#0  0x00007f1 in __futex_abstimed_wait (a=1, b=2) from /proc/1/root/lib/libc.so.6
#1  0x0000555 in take (lock=0x1) at shop.c:12

Thread 1 (Thread 0x7f00 (LWP 1) "main"):
#0  main () at shop.c:40
`)
	if len(threads[7]) != 2 || threads[7][0] != "__futex_abstimed_wait (libc.so.6)" || threads[7][1] != "take" || threads[1][0] != "main" {
		t.Errorf("%v", threads)
	}
}

func TestThreadsOfThisProcessHaveAState(t *testing.T) {
	threads := Threads(target.Proc, os.Getpid())
	if len(threads) == 0 {
		t.Fatal("none")
	}
	for _, thread := range threads {
		if thread.State == "" || thread.State == "gone" || thread.Name == "" {
			t.Errorf("%+v", thread)
		}
	}
}
