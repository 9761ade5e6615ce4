package jvm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"kdebug/tools/internal/target"
)

// TestMain lets this program, which is a Go program, be one that is called java.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "java" {
		time.Sleep(time.Minute)
		return
	}
	os.Exit(m.Run())
}

// A Go program handles SIGQUIT by ending, so it is not asked to be a JVM, whatever it is called.
func TestAProgramThatIsOnlyCalledJavaIsLeftAlone(t *testing.T) {
	program := filepath.Join(t.TempDir(), "java")
	content, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	//nolint:gosec // A program is to be run.
	if err := os.WriteFile(program, content, 0o755); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program)
	if err := command.Start(); err != nil {
		t.Skip(err)
	}
	defer func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}()
	time.Sleep(100 * time.Millisecond)
	found, err := target.Of(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if found.Runtime != target.JVM {
		t.Fatalf("it counts as %s", found.Runtime)
	}
	dump := Dump(context.Background(), found, target.Whoami(), Settings{Sample: time.Millisecond, ToItsLog: true})
	time.Sleep(300 * time.Millisecond)
	if status, err := found.FS().Status(filepath.Base(found.FS().Path(found.PID))); err != nil || status.State == 'Z' {
		t.Errorf("it was ended: %+v", dump)
	}
	if dump.Lack == nil {
		t.Errorf("%+v", dump)
	}
}
