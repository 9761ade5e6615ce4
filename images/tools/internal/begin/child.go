// Package begin starts a program in two steps: a process of ours waits until somebody traces it, and then becomes the program (execve). So a crash in the
// first instant of the program is seen too.
package begin

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"kdebug/tools/internal/run"
)

// Word is the first word of the child that waits.
const Word = "begin"

// What a shell gives for a program that is not there, and for one that cannot be run.
const (
	notFound  = 127
	cannotRun = 126
	misused   = 125
)

// defaultPath is that of container runtimes, for an environment without one.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// The program is to begin in the process' first thread: the start of another one's place takes longer, and its end looks like a death.
func init() {
	if len(os.Args) > 1 && os.Args[1] == Word {
		runtime.LockOSThread()
	}
}

// Run is the child: it waits, and becomes the program. The words are those behind Word. It returns only where that failed, with the exit code.
func Run(words []string) int {
	gate, result, program := place(words, 0), place(words, 1), words[min(2, len(words)):]
	if os.Getppid() != 1 || gate < 0 || result < 0 || len(program) == 0 {
		return misused
	}
	syscall.CloseOnExec(gate)
	syscall.CloseOnExec(result)
	if !isOpened(gate) {
		return misused
	}
	variables := Environment()
	if slices.ContainsFunc(variables, isRefused) {
		run.AllowHugePages()
	}
	failure := become(program, shown(variables))
	_, _ = syscall.Write(result, []byte(fmt.Sprintf("%d %s", failure.Code, failure.Words)))
	return failure.Code
}

// place is the number of an open file; -1 for none.
func place(words []string, at int) int {
	if at >= len(words) {
		return -1
	}
	number, err := strconv.Atoi(words[at])
	if err != nil || number < 3 {
		return -1
	}
	return number
}

// isOpened waits until the parent lets the child go on; false where it has ended.
func isOpened(gate int) bool {
	var word [1]byte
	for {
		size, err := syscall.Read(gate, word[:])
		if !errors.Is(err, syscall.EINTR) {
			return size == 1
		}
	}
}

// become runs the program in our place, and returns only where that failed.
func become(program, environment []string) *Failure {
	path, err := LookUp(program[0])
	if err != nil {
		return failureOf(err, err.Error())
	}
	err = syscall.Exec(path, program, environment)
	return failureOf(err, fmt.Sprintf("exec %s: %s", path, err))
}

// LookUp finds the program as a container runtime does: with a slash it is a path, else it is in $PATH.
func LookUp(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	if _, set := os.LookupEnv("PATH"); !set {
		_ = os.Setenv("PATH", defaultPath)
	}
	return exec.LookPath(name)
}

func failureOf(err error, words string) *Failure {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, syscall.ENOENT) {
		return &Failure{notFound, words}
	}
	return &Failure{cannotRun, words}
}

// Environment is the one that this process was started with, to the letter: Go's own copy leaves out a name that is there twice.
func Environment() []string {
	text, err := os.ReadFile("/proc/self/environ")
	if err != nil || len(text) == 0 {
		return os.Environ()
	}
	var variables []string
	for each := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte{0}), []byte{0}) {
		variables = append(variables, string(each))
	}
	return variables
}
