package diagnose

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kdebug/tools/internal/target"
)

// member starts a process of the run that a test stops.
func member(t *testing.T, command ...string) (pid int, ended chan struct{}) {
	t.Helper()
	child := exec.Command(command[0], command[1:]...)
	child.Env = append(os.Environ(), "KDEBUG_RUN=run-of-a-test")
	must(t, child.Start())
	ended = make(chan struct{})
	go func() {
		_ = child.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = child.Process.Kill()
		<-ended
	})
	return child.Process.Pid, ended
}

func TestAProcessThatTheFirstPassMissesIsStopped(t *testing.T) {
	proc, passes := t.TempDir(), 0
	end := ending{fs: target.FS(proc), own: os.Getpid(), grace: 20 * time.Second, run: "run-of-a-test", now: time.Now}
	pid, ended := member(t, "sleep", "60")
	end.sleep = func(time.Duration) {
		switch passes++; {
		case passes == emptyPasses-1:
			must(t, os.Symlink(fmt.Sprintf("/proc/%d", pid), filepath.Join(proc, fmt.Sprint(pid))))
		case passes >= emptyPasses:
			<-ended
		}
	}
	code, sentence := end.end(Settings{}, time.Now())
	if want := fmt.Sprintf("Stopped run run-of-a-test with TERM: processes %d.", pid); code != stopped || sentence != want {
		t.Errorf("%d %s", code, sentence)
	}
}

func TestARunThatStartsAnewAgainAndAgainIsNeverBelievedToHaveEnded(t *testing.T) {
	proc := t.TempDir()
	now := time.Now()
	end := ending{fs: target.FS(proc), own: os.Getpid(), run: "run-of-a-test", now: func() time.Time { return now }}
	last, passes := "", 0
	// Each process is there in one pass of three.
	end.sleep = func(time.Duration) {
		now = now.Add(time.Second)
		if last != "" {
			must(t, os.Remove(last))
			last = ""
		}
		if passes++; passes%3 == 0 && passes < 100 {
			pid, _ := member(t, "sleep", "60")
			last = filepath.Join(proc, fmt.Sprint(pid))
			must(t, os.Symlink(fmt.Sprintf("/proc/%d", pid), last))
		}
	}
	code, sentence := end.end(Settings{}, time.Now())
	if code != notStopped || !strings.HasPrefix(sentence, "Not stopped: the processes of run run-of-a-test are still there: ") {
		t.Errorf("%d %s", code, sentence)
	}
}

func TestAProcessThatEndedIsNotOneThatCouldNotBeRead(t *testing.T) {
	status := "State:\tS (sleeping)\nUid:\t1\t1\nGid:\t1\t1\n"
	proc := folderWith(t, map[string]string{"77/status": status, "78/x": ""})
	end := ending{fs: target.FS(proc), own: os.Getpid(), run: "run-of-a-test", sleep: func(time.Duration) {}, now: time.Now}
	if code, sentence := end.end(Settings{}, time.Now()); code != nothingToEnd || strings.Contains(sentence, "could not be read") {
		t.Errorf("%d %s", code, sentence)
	}
	must(t, os.Mkdir(proc+"/77/environ", 0o700))
	if code, sentence := end.end(Settings{}, time.Now()); code != nothingToEnd || !strings.Contains(sentence, "and 1 could not be read") {
		t.Errorf("%d %s", code, sentence)
	}
	if _, err := readEnviron(proc + "/77/environ"); err == nil || err == syscall.ENOENT {
		t.Error(err)
	}
}

func TestAKilledProcessMayTakeLongerToGoThanTheGraceOfOneThatIsAsked(t *testing.T) {
	for grace, want := range map[time.Duration]time.Duration{0: killPatience, time.Second: killPatience, time.Minute: time.Minute} {
		end := ending{grace: grace}
		if end.patience(syscall.SIGTERM) != grace || end.patience(syscall.SIGKILL) != want {
			t.Errorf("%s: %s, %s", grace, end.patience(syscall.SIGTERM), end.patience(syscall.SIGKILL))
		}
	}
}
