package begin

import (
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Child is a process of ours that waits to become a program.
type Child struct {
	PID          int
	gate, result *os.File
}

// Failure is why a program could not be run, in the words of a container runtime, and the exit code for that.
type Failure struct {
	Code  int
	Words string
}

// Start starts the child, in a session of its own as a runtime does. It has this process' standard files, folder and limits, and runs the program once Open
// is called.
func Start(program, environment []string) (*Child, error) {
	gate, opens, err := pipe()
	if err != nil {
		return nil, err
	}
	result, tells, err := pipe()
	if err != nil {
		return nil, err
	}
	defer gate.Close()
	defer tells.Close()
	// They keep their numbers: one that is given another may hide a file that the program is to get from the runtime.
	for _, each := range []*os.File{gate, tells} {
		if _, err := unix.FcntlInt(each.Fd(), unix.F_SETFD, 0); err != nil {
			return nil, err
		}
	}
	words := append([]string{"blackbox", Word, strconv.Itoa(int(gate.Fd())), strconv.Itoa(int(tells.Fd()))}, program...)
	pid, err := syscall.ForkExec("/proc/self/exe", words, &syscall.ProcAttr{
		Env: environment, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, err
	}
	return &Child{PID: pid, gate: opens, result: result}, nil
}

// pipe has blocking ends, which no program that is started gets.
func pipe() (read, write *os.File, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe", err)
	}
	return os.NewFile(uintptr(ends[0]), "pipe"), os.NewFile(uintptr(ends[1]), "pipe"), nil
}

// Open lets the child become the program.
func (c *Child) Open() {
	_, _ = c.gate.Write([]byte{1})
	_ = c.gate.Close()
}

// Failure is why the child could not become the program; nil where it could, or was ended before. Waits until it has tried.
func (c *Child) Failure() *Failure {
	text, _ := io.ReadAll(io.LimitReader(c.result, 4096))
	word, words, _ := strings.Cut(string(text), " ")
	code, err := strconv.Atoi(word)
	if err != nil {
		return nil
	}
	return &Failure{code, words}
}
