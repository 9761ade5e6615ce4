package run

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

const refuses = "KDEBUG_TEST_REFUSES"

func TestMain(m *testing.M) {
	if os.Getenv(refuses) != "" {
		WithoutHugePages()
		text, _ := os.ReadFile("/proc/self/status")
		_, _ = os.Stdout.Write(append(text, strings.Join(os.Args[1:], " ")...))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAProcessGoesOnWithoutHugePages(t *testing.T) {
	command := exec.Command(os.Args[0], "a", "word")
	command.Env = append(os.Environ(), refuses+"=1")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "THP_enabled:") {
		t.Skip("a kernel that does not show it")
	}
	if !strings.HasPrefix(string(out), "Name:\trun.test\n") {
		t.Errorf("it has another name: %s", out)
	}
	if !strings.Contains(string(out), "THP_enabled:\t0\n") || !strings.HasSuffix(string(out), "a word") {
		t.Errorf("%s", out)
	}
}
