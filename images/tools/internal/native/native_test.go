package native

import (
	"context"
	"os"
	"testing"
	"time"

	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

func TestThreadsOfThisProcessHaveANameAndAState(t *testing.T) {
	self, err := target.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	dump := Dump(context.Background(), self, target.Whoami(), time.Millisecond)
	if len(dump.Threads) == 0 {
		t.Fatal("none")
	}
	for _, thread := range dump.Threads {
		if thread.Name == "" || stack.Does(thread) == "" {
			t.Errorf("%+v", thread)
		}
	}
}
