package run

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A process that asks for more than it may have ends by itself.
func TestBound(t *testing.T) {
	if os.Getenv("KDEBUG_TAKES_MEMORY") != "" {
		Bound()
		for taken := [][]byte{}; len(taken) < 32; taken = append(taken, make([]byte, MaxMemory/16)) {
		}
		return
	}
	//nolint:gosec // It is this test.
	command := exec.Command(os.Args[0], "-test.run=^TestBound$")
	command.Env = append(os.Environ(), "KDEBUG_TAKES_MEMORY=yes")
	out, err := command.CombinedOutput()
	// Which allocation the kernel refuses first, and so what Go's runtime says of it, differs from run to run.
	if err == nil || !strings.Contains(string(out), "fatal error: ") {
		t.Errorf("it took twice what it may: %v\n%s", err, out)
	}
}
