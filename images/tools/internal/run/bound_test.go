package run

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

const takes = "KDEBUG_TAKES_PARTS"

// A process that asks for more than it may have ends by itself. How it ends differs: Go's runtime has several sentences for memory that the
// kernel refuses, and sometimes ends by SIGSEGV.
func TestBound(t *testing.T) {
	if parts, err := strconv.Atoi(os.Getenv(takes)); err == nil {
		Bound()
		for taken := [][]byte{}; len(taken) < parts; taken = append(taken, make([]byte, MaxMemory/16)) {
		}
		return
	}
	if out, err := withParts(8); err != nil {
		t.Errorf("it took half of what it may: %v\n%s", err, out)
	}
	if _, err := withParts(32); err == nil {
		t.Error("it took twice what it may")
	}
}

func withParts(parts int) ([]byte, error) {
	//nolint:gosec // It is this test.
	command := exec.Command(os.Args[0], "-test.run=^TestBound$")
	command.Env = append(os.Environ(), takes+"="+strconv.Itoa(parts))
	return command.CombinedOutput()
}
