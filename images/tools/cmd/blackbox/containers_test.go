package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	parentOnce  sync.Once
	parentBuilt error
	// parentDir has what the second runs need: the program, and the victims of brief.c.
	parentDir string
)

func buildParent() {
	parentDir, _ = os.MkdirTemp("", "blackbox-")
	_ = os.Chmod(parentDir, 0o755) //nolint:gosec // Other users start them.
	for _, words := range [][]string{
		{"cc", "-O1", "-pthread", "-o", filepath.Join(parentDir, "brief"), "testdata/brief.c"},
		{"go", "build", "-o", filepath.Join(parentDir, "blackbox"), "."},
	} {
		command := exec.Command(words[0], words[1:]...)
		command.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := command.CombinedOutput(); err != nil {
			parentBuilt = fmt.Errorf("%w: %s", err, out)
			return
		}
	}
}

// container is a process namespace of its own with a /proc, a termination log, and a user who is not root.
type container struct {
	*exec.Cmd
	out bytes.Buffer
	log string
}

const enter = `set -e
mount --bind /dev/null "$0/null" && mount --rbind "$0" /dev
exec setpriv --reuid 10001 --regid 10001 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs "$@"`

// mayGainRights is the same where a program may get rights from its file.
var mayGainRights = strings.NewReplacer(" --bounding-set=-all", "", " --no-new-privs", "").Replace(enter)

// mayNotKill is root without CAP_KILL: its signals reach no process of another user.
const mayNotKill = `set -e
mount --bind /dev/null "$0/null" && mount --rbind "$0" /dev
exec setpriv --bounding-set=-kill "$@"`

// contain is a container whose first process is that command. Its termination log has a message already.
func contain(t *testing.T, command ...string) *container {
	t.Helper()
	return containWith(t, enter, command...)
}

func containWith(t *testing.T, enter string, command ...string) *container {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may begin a process namespace")
	}
	device := t.TempDir()
	_ = os.Chmod(filepath.Dir(device), 0o755) //nolint:gosec // Another user is to come here.
	made := &container{log: filepath.Join(device, "termination-log")}
	for path, mode := range map[string]os.FileMode{made.log: 0o666, filepath.Join(device, "null"): 0o666} {
		if os.WriteFile(path, []byte("from before"), mode) != nil || os.Chmod(path, mode) != nil {
			t.Fatal("no room for a container")
		}
	}
	made.Cmd = exec.Command("unshare", append([]string{"-pfm", "--mount-proc", "--kill-child", "sh", "-c", enter, device}, command...)...)
	made.Dir = parentDir
	made.Stdout, made.Stderr = &made.out, &made.out
	made.Stdin = strings.NewReader("g")
	return made
}

// oncemore is one that runs a program once more.
func oncemore(t *testing.T, length string, program ...string) *container {
	t.Helper()
	return oncemoreIn(t, enter, length, program...)
}

func oncemoreIn(t *testing.T, enter, length string, program ...string) *container {
	t.Helper()
	if parentOnce.Do(buildParent); parentBuilt != nil {
		t.Skip("it could not be built: ", parentBuilt)
	}
	folder := t.TempDir()
	for at := folder; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		_ = os.Chmod(at, 0o777) //nolint:gosec // Another user is to remove a file there.
	}
	ours, err := os.ReadFile(filepath.Join(parentDir, "blackbox"))
	if err != nil {
		t.Fatal(err)
	}
	carried := filepath.Join(folder, "carried")
	if os.WriteFile(carried, ours, 0o555) != nil || os.Chmod(carried, 0o555) != nil {
		t.Fatal("not carried")
	}
	made := containWith(t, enter, append([]string{carried, "once-more", "--for=" + length, "--"}, program...)...)
	t.Cleanup(func() {
		if _, err := os.Stat(carried); err == nil && !t.Skipped() {
			t.Error("it did not remove its own file")
		}
	})
	return made
}

// ends runs it to its end and gives the exit code.
func (c *container) ends(t *testing.T) int {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Skip(err)
	}
	return c.isOver(t)
}

func (c *container) isOver(t *testing.T) int {
	t.Helper()
	late := time.AfterFunc(testPatience, func() { _ = c.Process.Kill() })
	defer late.Stop()
	_ = c.Wait()
	if strings.HasPrefix(c.out.String(), "unshare: ") {
		t.Skip(c.out.String())
	}
	return c.ProcessState.ExitCode()
}

// message is the report in its termination log.
func (c *container) message(t *testing.T) (verdict string, codes []string) {
	t.Helper()
	text, err := os.ReadFile(c.log)
	var read struct {
		Verdict  string
		Findings []struct{ Code string }
	}
	if err != nil || json.Unmarshal(text, &read) != nil {
		t.Errorf("no report: %q %v", text, err)
	}
	for _, each := range read.Findings {
		codes = append(codes, each.Code)
	}
	return read.Verdict, codes
}

// tells expects an exit code, and a verdict with those words and that finding; "" for none.
func (c *container) tells(t *testing.T, code int, words, finding string) {
	t.Helper()
	if got := c.ends(t); got != code {
		t.Errorf("exit code %d, not %d:\n%s", got, code, c.out.String())
	}
	verdict, found := c.message(t)
	if !strings.Contains(verdict, words) || strings.Join(found, " ") != finding {
		t.Errorf("%q, findings %q, without %q", verdict, found, words)
	}
	if out := c.out.String(); !strings.Contains(out, "\nkdebug blackbox, run none, ") || !strings.Contains(out, words) || strings.Contains(out, "KDEBUG REPORT") {
		t.Error(out)
	}
}
