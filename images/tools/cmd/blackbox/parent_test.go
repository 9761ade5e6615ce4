package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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

// contain is a container whose first process is that command. Its termination log has a message already.
func contain(t *testing.T, command ...string) *container {
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
	made := contain(t, append([]string{carried, "once-more", "--for=" + length, "--"}, program...)...)
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

func brief(way ...string) []string { return append([]string{"./brief"}, way...) }

func TestASecondRunIsTold(t *testing.T) {
	parentOnce.Do(buildParent)
	script := filepath.Join(parentDir, "script")
	_ = os.WriteFile(script, []byte("#!/bin/sh\necho said\nexit 7\n"), 0o755)                                          //nolint:gosec // It is to run.
	_ = os.WriteFile(filepath.Join(parentDir, "shut"), []byte("#!/bin/sh\n"), 0o644)                                   //nolint:gosec // It is not.
	_ = os.WriteFile(filepath.Join(parentDir, "foreign"), []byte("\x7fELF\x02\x01\x01 of another processor  "), 0o755) //nolint:gosec // It is to be tried.
	_ = os.WriteFile(filepath.Join(parentDir, "nobodys"), []byte("#!/no/such/interpreter\n"), 0o755)                   //nolint:gosec // It is to be tried.
	for name, each := range map[string]struct {
		program        []string
		code           int
		words, finding string
	}{
		"a crash":                        {brief("crash"), 139, "(brief) died of SIGSEGV (address 0x0, a nil pointer) in main+", "died_of_signal"},
		"a crash before main":            {brief("early"), 139, "(brief) died of SIGSEGV (address 0x0, a nil pointer) in early+", "died_of_signal"},
		"a crash of a child":             {brief("forks"), 0, "(brief) ended itself with exit code 0", ""},
		"a nil pointer":                  {cVictim(t, "segv"), 139, "died of SIGSEGV (address 0x0, a nil pointer) in crash_here", "died_of_signal"},
		"a nil pointer in a thread":      {cVictim(t, "thread-segv"), 139, ", thread ", "died_of_signal"},
		"abort":                          {cVictim(t, "abort"), 134, "gave itself up by abort() (SIGABRT), called in give_up", "died_of_signal"},
		"exit":                           {cVictim(t, "exit"), 3, "ended itself with exit code 3, called in leave", "died_of_exit"},
		"exit in a thread":               {cVictim(t, "thread-exit"), 3, "ended itself with exit code 3, called in leave", "died_of_exit"},
		"a breakpoint":                   {cVictim(t, "breakpoint"), 133, "died of SIGTRAP (a breakpoint)", "died_of_signal"},
		"an end that is well":            {brief("well"), 0, "ended itself with exit code 0", ""},
		"the end of the last thread":     {cVictim(t, "last-thread"), 0, "ended itself with exit code 0", ""},
		"another program by execve":      {cVictim(t, "exec"), 3, "ended itself with exit code 3, called in leave", "died_of_exit"},
		"many programs by execve":        {brief("execs", "300"), 4, "(exe) ended itself with exit code 4", "died_of_exit"},
		"very many threads":              {cVictim(t, "many-threads"), 4, "ended itself with exit code 4", "died_of_exit"},
		"a panic of Go":                  {goVictim(t, "panic"), 2, "of a panic that nobody recovered in main.panics (main.go:", "died_of_exit"},
		"a script":                       {[]string{script}, 7, "(script) ended itself with exit code 7", "died_of_exit"},
		"a program of $PATH":             {[]string{"sh", "-c", "exit 6"}, 6, "(sh) ended itself with exit code 6", "died_of_exit"},
		"a program that is not there":    {[]string{"nope"}, 127, `Could not start: exec: "nope": executable file not found in $PATH.`, ""},
		"a path that is not there":       {[]string{"/no/such"}, 127, "Could not start: exec /no/such: no such file or directory.", ""},
		"an interpreter that is none":    {[]string{"./nobodys"}, 127, "Could not start: exec ./nobodys: no such file or directory.", ""},
		"a program of another processor": {[]string{"./foreign"}, 126, "Could not start: exec ./foreign: exec format error.", ""},
		"a program that may not run":     {[]string{"./shut"}, 126, "Could not start: exec ./shut: permission denied.", ""},
		"a folder":                       {[]string{"/tmp"}, 126, "Could not start: exec /tmp: permission denied.", ""},
		"killed by itself":               {[]string{"sh", "-c", "kill -9 $$"}, 137, "(sh) was killed by SIGKILL", "died_of_signal"},
		"a daemon":                       {[]string{"sh", "-c", "sleep 60 & exit 0"}, 0, "(sh) ended itself with exit code 0", ""},
		"a termination log of its own":   {[]string{"sh", "-c", `printf '{"kdebug":1,"verdict":"All is well."}%5000s' x >/dev/termination-log; exit 5`}, 5, "exit code 5", "died_of_exit"},
		"Python":                         {pythonProgram("import ctypes\ndef price(of):\n    return ctypes.string_at(of)\nprice(0)"), 139, ", called by price (<string>:", "died_of_signal"},
	} {
		t.Run(name, func(t *testing.T) {
			if each.program == nil {
				t.Skip("no Python")
			}
			oncemore(t, "15s", each.program...).tells(t, each.code, each.words, each.finding)
		})
	}
}

// pythonProgram is one that everybody may start; nil without one.
func pythonProgram(code string) []string {
	const python = "/usr/bin/python3"
	out, err := exec.Command(python, "-c", "import sys; print(sys.version_info[:2] >= (3, 11))").Output()
	if err != nil || string(out) != "True\n" {
		return nil
	}
	return []string{python, "-c", code}
}

func TestManyBriefRunsAreToldRightly(t *testing.T) {
	for number := range kills(200) {
		program, code, words, finding := brief("well"), 0, "exit code 0", ""
		if number%4 == 0 {
			program, code, words, finding = brief("crash"), 139, "SIGSEGV", "died_of_signal"
		}
		oncemore(t, "15s", program...).tells(t, code, words, finding)
		if t.Failed() {
			t.Fatalf("run %d", number)
		}
	}
}

func TestWhenTheTimeIsOverNothingIsLeft(t *testing.T) {
	run := oncemore(t, "1s", brief("stubborn")...)
	began := time.Now()
	run.tells(t, exitOver, "(brief) was still running after 1 s and was ended; it was in ", "")
	if took := time.Since(began); took < 4*time.Second || took > 9*time.Second {
		t.Errorf("it took %s", took)
	}
	if out, _ := exec.Command("pgrep", "-f", "brief stubborn").Output(); len(out) > 0 {
		t.Errorf("left: %s", out)
	}
	verdict, _ := run.message(t)
	text, _ := os.ReadFile(run.log)
	if !strings.Contains(string(text), `"sections":[{"name":"death","state":"ok","text":"no death within 1 s"}]`) {
		t.Errorf("%s %s", verdict, text)
	}
}

func TestAProgramThatEndsOnSIGTERMAtTheEndOfTheTime(t *testing.T) {
	began := time.Now()
	oncemore(t, "1s", "sleep", "100").tells(t, exitOver, "(sleep) was still running after 1 s and was ended", "")
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
}

// firstOf is the first process of a container that runs, by its number here.
func (c *container) firstOf(t *testing.T) int {
	t.Helper()
	for until := time.Now().Add(testPatience); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", c.Process.Pid, c.Process.Pid))
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && strings.Contains(commandOf(pid), "once-more") {
			return pid
		}
	}
	t.Fatal("no first process")
	return 0
}

func commandOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(text)
}

func TestSignalsArePassedOn(t *testing.T) {
	for name, each := range map[string]struct {
		signal         string
		program        string
		code           int
		words, finding string
	}{
		"SIGTERM that is followed": {"TERM", "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done", 0, "ended with exit code 0, 0.", ""},
		"SIGUSR1":                  {"USR1", "trap 'exit 4' USR1; echo up; while :; do sleep 0.05; done", 4, "ended itself with exit code 4", "died_of_exit"},
		"SIGHUP":                   {"HUP", "trap 'exit 5' HUP; echo up; while :; do sleep 0.05; done", 5, "after SIGHUP from outside the container", "died_of_exit"},
		"SIGTERM that ends it":     {"TERM", "echo up; exec sleep 100", 143, "(sleep) died of SIGTERM, sent from outside the container", "died_of_signal"},
	} {
		t.Run(name, func(t *testing.T) {
			run := oncemore(t, "15s", "sh", "-c", each.program)
			out := &lockedBuffer{}
			run.Stdout, run.Stderr = out, out
			if err := run.Start(); err != nil {
				t.Skip(err)
			}
			first := run.firstOf(t)
			for until := time.Now().Add(testPatience); !strings.Contains(out.String(), "up\n") && time.Now().Before(until); {
				time.Sleep(5 * time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
			_ = exec.Command("kill", "-"+each.signal, strconv.Itoa(first)).Run()
			if code := run.isOver(t); code != each.code {
				t.Errorf("exit code %d: %s", code, out.String())
			}
			verdict, found := run.message(t)
			if !strings.Contains(verdict, each.words) || strings.Join(found, " ") != each.finding {
				t.Errorf("%q %q", verdict, found)
			}
		})
	}
}

func TestTheProgramCannotReachItsParent(t *testing.T) {
	run := oncemore(t, "15s", brief("pry")...)
	run.tells(t, 0, "exit code 0", "")
	if out := run.out.String(); !strings.Contains(out, "pried -1 -1 -1 -1 -1\n") {
		t.Error(out)
	}
}

// A program of the same user may change the limits of its parent. It cannot leave a message of its own by that.
func TestAParentWithoutRoomForAMessageLeavesNone(t *testing.T) {
	program := pythonProgram("import os, resource\nopen('/dev/termination-log', 'w').write('FORGED')\nresource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (1, 1))\nos._exit(3)")
	if program == nil {
		t.Skip("no Python")
	}
	run := oncemore(t, "15s", program...)
	code := run.ends(t)
	if text, _ := os.ReadFile(run.log); code != 3 || len(text) > 1 {
		t.Errorf("exit code %d, %q", code, text)
	}
}

func TestOrphansAreReaped(t *testing.T) {
	run := oncemore(t, "15s", brief("orphans")...)
	run.tells(t, 0, "exit code 0", "")
	if out := run.out.String(); !strings.Contains(out, "zombies:0\n") {
		t.Error(out)
	}
}

// inherited are programs that print how they were started, each as one process: a shell has more open while it starts others.
var inherited = [][]string{
	{"cat", "/proc/self/status", "/proc/self/limits", "/proc/self/oom_score_adj", "/proc/self/coredump_filter", "/proc/self/personality", "/proc/self/timerslack_ns"},
	{"cat", "/proc/self/environ", "/proc/self/cmdline", "/proc/self/cgroup"},
	{"ls", "-l", "/proc/self/fd"},
	{"pwd"},
	{"sh", "-c", `read -r own rest </proc/$$/stat; set -- $rest; echo "group $(($4 - own)) session $(($5 - own)) nice ${18}"`},
}

// ofItself are lines about a process that are its own affair, or those of the moment.
var ofItself = regexp.MustCompile(`(?m)^(Pid|Tgid|Ngid|PPid|TracerPid|NS[a-z]+|Vm[A-Za-z]+|Rss[A-Za-z]+|HugetlbPages|FDSize|SigQ|Cpus_.*|.*ctxt_switches|total .*):?.*\n`)

// links are what the lines of ls say that is no matter of the open file.
var links = regexp.MustCompile(`(?m)^l.* ([0-9]+ -> [^:\n0-9]*).*$`)

func TestTheProgramBeginsAsARuntimeWouldStartIt(t *testing.T) {
	parentOnce.Do(buildParent)
	for _, program := range inherited {
		for _, most := range []string{"", "ulimit -S -n 700; ulimit -H -n 900; "} {
			limited := func(command ...string) []string {
				return append([]string{"sh", "-c", most + `exec "$@"`, "sh"}, command...)
			}
			// A runtime gives its process a session.
			plain := contain(t, limited(append([]string{"setsid"}, program...)...)...)
			if code := plain.ends(t); code != 0 {
				t.Fatalf("%d %s", code, plain.out.String())
			}
			again := oncemore(t, "15s", program...)
			at := len(again.Args) - len(program) - 4
			again.Args = append(again.Args[:at:at], limited(again.Args[at:]...)...)
			again.tells(t, 0, "exit code 0", "")
			got, _, _ := strings.Cut(again.out.String(), "\nkdebug blackbox, ")
			plainly := func(text string) string { return links.ReplaceAllString(ofItself.ReplaceAllString(text, ""), "$1") }
			differs(t, plainly(got), plainly(plain.out.String()))
		}
	}
}

// differs tells each line that is not the same.
func differs(t *testing.T, got, want string) {
	t.Helper()
	seen, expected := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(seen) != len(expected) || len(seen) < 2 {
		t.Errorf("%d lines, without us %d: %q %q", len(seen), len(expected), got, want)
	}
	for at := range min(len(seen), len(expected)) {
		if seen[at] != expected[at] {
			t.Errorf("it sees %q, without us %q", seen[at], expected[at])
		}
	}
}

func TestASecondRunIsRefused(t *testing.T) {
	parentOnce.Do(buildParent)
	ours := filepath.Join(parentDir, "blackbox")
	for name, words := range map[string][]string{
		"no words": {}, "no time": {"--", "true"}, "no program": {"--for=5s", "--"}, "no end of the words": {"--for=5s", "true"},
		"too short": {"--for=0s", "--", "true"}, "too long": {"--for=13h", "--", "true"}, "no number": {"--for=soon", "--", "true"}, "two units": {"--for=1m5s", "--", "true"},
	} {
		run := contain(t, append([]string{ours, "once-more"}, words...)...)
		code := run.ends(t)
		text, _ := os.ReadFile(run.log)
		if code != refused || !strings.HasPrefix(run.out.String(), "Not started: ") || string(text) != run.out.String() {
			t.Errorf("%s: %d %q %q", name, code, run.out.String(), text)
		}
	}
	late := contain(t, ours, "once-more", "--for=5s", "--", "true")
	late.Env = append(os.Environ(), "KDEBUG_NOT_AFTER=2024-05-01T10:00:00Z")
	if code := late.ends(t); code != refused || !strings.HasPrefix(late.out.String(), "Started too late: ") {
		t.Errorf("%d %s", code, late.out.String())
	}
	second := contain(t, "sh", "-c", ours+" once-more --for=5s -- true; exit $?")
	if code := second.ends(t); code != refused || !strings.Contains(second.out.String(), "the first process") {
		t.Errorf("%d %s", code, second.out.String())
	}
	if _, err := os.Stat(ours); err != nil {
		t.Error("it removed itself")
	}
}
