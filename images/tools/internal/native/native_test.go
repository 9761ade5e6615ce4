package native

import (
	"context"
	"os"
	"testing"
	"time"

	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

func TestThreadsOfThisProcessHaveANameAndAState(t *testing.T) {
	self, err := target.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	watch := thread.Start(self.FS(), self.PID)
	dump := Dump(context.Background(), self, target.Whoami(), time.Millisecond)
	if len(dump.Threads) == 0 {
		t.Fatal("none")
	}
	seen := watch.Read()
	for _, each := range dump.Threads {
		if each.Name == "" || each.ID == 0 || stack.Does(stack.Thread{Kernel: seen[each.ID]}) == "" {
			t.Errorf("%+v", each)
		}
	}
}
