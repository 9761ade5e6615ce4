package native

import (
	"os"
	"testing"

	"kdebug/tools/internal/target"
)

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
