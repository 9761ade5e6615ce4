package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

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
