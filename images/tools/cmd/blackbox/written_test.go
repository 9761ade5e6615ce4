package main

import (
	"os"
	"testing"
)

// TestWriteDeath writes the log of a real death into the file that KDEBUG_DEATH names: for the tests of what reads such a log.
func TestWriteDeath(t *testing.T) {
	name := os.Getenv("KDEBUG_DEATH")
	if name == "" {
		t.Skip("nobody asks for a log")
	}
	victim := start(t, false, goVictim(t, "goroutine"))
	watcher := victim.watch(t)
	victim.release()
	_ = victim.code()
	if err := os.WriteFile(name, []byte(watcher.result()), 0o600); err != nil {
		t.Fatal(err)
	}
}
