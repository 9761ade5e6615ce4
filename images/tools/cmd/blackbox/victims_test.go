package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const testPatience = 20 * time.Second

var (
	buildOnce sync.Once
	buildDir  string
	cBuilt    error
	goBuilt   error
	// staticBuilt is of the program of C with its library in it.
	staticBuilt error
)

// build builds the victims once; a test without a compiler is skipped.
func build() {
	buildDir, _ = os.MkdirTemp("", "blackbox-")
	_ = os.Chmod(buildDir, 0o755) //nolint:gosec // Other users start them.
	run := func(name string, words ...string) error {
		command := exec.Command(name, words...)
		command.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	cBuilt = run("cc", "-O2", "-pthread", "-o", filepath.Join(buildDir, "victim"), "testdata/victim.c")
	staticBuilt = run("cc", "-O2", "-pthread", "-static", "-o", filepath.Join(buildDir, "staticvictim"), "testdata/victim.c")
	goBuilt = run("go", "build", "-ldflags=-s -w", "-o", filepath.Join(buildDir, "govictim"), "./testdata/govictim")
}

func cVictim(t *testing.T, way string) []string {
	t.Helper()
	if buildOnce.Do(build); cBuilt != nil {
		t.Skip("no C compiler: ", cBuilt)
	}
	return []string{filepath.Join(buildDir, "victim"), way}
}

func goVictim(t *testing.T, way string) []string {
	t.Helper()
	if buildOnce.Do(build); goBuilt != nil {
		t.Skip("no Go: ", goBuilt)
	}
	return []string{filepath.Join(buildDir, "govictim"), way}
}

func pythonVictim(t *testing.T, code string) []string {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skip("no Python")
	}
	return []string{strings.TrimSpace(string(out)), "-c", "import os\nprint('ready', flush=True)\nos.read(0, 1)\n" + code}
}

// victim is a program that waits for a byte before it does what it was asked to.
type victim struct {
	*exec.Cmd
	stdin io.WriteCloser
	// pid is its number here; it is process 1 of a namespace of its own where isFirst.
	pid     int
	isFirst bool
	// watched is what is watched where that is not the process itself.
	watched string
	lines   *bufio.Reader
}

// start starts one, as the first process of a namespace of its own as in a container, or as our child.
func start(t *testing.T, isFirst bool, command []string) *victim {
	t.Helper()
	started := &victim{isFirst: isFirst}
	if isFirst {
		if os.Geteuid() != 0 {
			t.Skip("only root may begin a process namespace")
		}
		command = append([]string{"unshare", "-pf", "--mount-proc", "--kill-child"}, command...)
	}
	started.Cmd = exec.Command(command[0], command[1:]...)
	started.stdin, _ = started.StdinPipe()
	out, err := started.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := started.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = started.Process.Kill() })
	started.lines = bufio.NewReader(out)
	if line, err := started.lines.ReadString('\n'); err != nil || line != "ready\n" {
		t.Skipf("no victim here: %q %v", line, err)
	}
	if started.pid = started.Process.Pid; isFirst {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", started.pid, started.pid))
		started.pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	return started
}

// release lets it do what it was asked to; every later read of its input ends at once.
func (v *victim) release() {
	v.begin()
	_ = v.stdin.Close()
}

// begin lets one read of its input end.
func (v *victim) begin() { _, _ = v.stdin.Write([]byte("g")) }

// code is how it ended, as a shell says it.
func (v *victim) code() int {
	late := time.AfterFunc(testPatience, func() { _ = syscall.Kill(v.pid, syscall.SIGKILL) })
	defer late.Stop()
	_, _ = io.Copy(io.Discard, v.lines)
	_ = v.Wait()
	status := v.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return exitSignals + int(status.Signal())
	}
	return status.ExitStatus()
}

// watcher is the program itself beside a victim.
type watcher struct {
	*exec.Cmd
	out *lockedBuffer
}

// watch starts the program at a victim, in its namespace where it has one of its own, and waits until it watches.
func (v *victim) watch(t *testing.T, environment ...string) *watcher {
	t.Helper()
	started := v.beside(environment...)
	if err := started.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = started.Process.Kill() })
	started.waitUntilWatching(t)
	return started
}

func (w *watcher) waitUntilWatching(t *testing.T) {
	t.Helper()
	for until := time.Now().Add(testPatience); !strings.Contains(w.out.String(), "Watching"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) || strings.Contains(w.out.String(), "Could not") {
			t.Fatalf("it does not watch: %s", w.out.String())
		}
	}
}

// another is a user who is not root.
const another = 10001

// ofAnother is a command as that user, without a capability.
func ofAnother(command []string) []string {
	user := strconv.Itoa(another)
	return append([]string{"setpriv", "--reuid", user, "--regid", user, "--clear-groups"}, command...)
}

// asAnother lets the watcher run as a user who is not root: root may look at everything. Others may not start a program that "go test" built.
func (w *watcher) asAnother(t *testing.T) {
	t.Helper()
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "blackbox-")
	if err != nil || os.Chmod(folder, 0o755) != nil { //nolint:gosec // Others are to start it.
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	w.Path = filepath.Join(folder, "watcher")
	if err := os.WriteFile(w.Path, program, 0o755); err != nil { //nolint:gosec // It is this test.
		t.Fatal(err)
	}
	w.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: another, Gid: another}}
}

func (v *victim) beside(environment ...string) *watcher {
	command, pid := []string{os.Args[0]}, v.pid
	if v.isFirst {
		command, pid = append([]string{"nsenter", "-t", strconv.Itoa(v.pid), "-p", "-m"}, command...), 1
	}
	watched := strconv.Itoa(pid)
	if v.watched != "" {
		watched = v.watched
	}
	started := &watcher{exec.Command(command[0], command[1:]...), &lockedBuffer{}}
	started.Env = append(append(os.Environ(), environment...), watches+"="+watched)
	started.Stdout, started.Stderr = started.out, started.out
	return started
}

// result waits for its end and gives what it wrote.
func (w *watcher) result() string {
	_ = w.Wait()
	return w.out.String()
}

type lockedBuffer struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.String()
}
