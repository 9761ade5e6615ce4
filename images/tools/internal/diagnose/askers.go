package diagnose

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
)

// askByThread asks from a thread of its own; one that hangs is left behind.
func askByThread(paths []string) asker {
	answers := make(chan disk, len(paths))
	var thread atomic.Int64
	go func() {
		// The kernel's word for what the thread does is the word for what this does. A locked thread ends with its goroutine.
		runtime.LockOSThread()
		thread.Store(int64(syscall.Gettid()))
		for _, each := range paths {
			answers <- diskOf(each)
		}
	}()
	state := func() byte {
		id := thread.Load()
		if id == 0 {
			return 0
		}
		return stateOf("/proc/self/task/" + strconv.FormatInt(id, 10))
	}
	return asker{answers, state, func() {}}
}

// ourselves is this program, also where its file is in another root than the one that we see.
const ourselves = "/proc/self/exe"

// VolumesCommand is the word by which this program starts itself to ask file systems.
const VolumesCommand = "volumes"

// AnswerVolumes asks the file systems at the paths and writes a line of four numbers for each; it is the work of the process that has VolumesCommand.
func AnswerVolumes(out io.Writer, paths []string) {
	for _, each := range paths {
		one := diskOf(each)
		fmt.Fprintln(out, one.blocks, one.available, one.nodes, one.spare)
	}
}

// askByProcess asks from a process; one that hangs is killed, which the kernel does when the volume answers.
func askByProcess(paths []string) asker {
	answers := make(chan disk, len(paths))
	//nolint:gosec // It is this program.
	command := exec.Command(ourselves, append([]string{VolumesCommand}, paths...)...)
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		close(answers)
		return asker{answers, func() byte { return 0 }, func() {}}
	}
	go func() {
		defer close(answers)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var one disk
			if _, err := fmt.Sscan(lines.Text(), &one.blocks, &one.available, &one.nodes, &one.spare); err != nil {
				return
			}
			answers <- one
		}
	}()
	return asker{
		answers,
		func() byte { return stateOf("/proc/" + strconv.Itoa(command.Process.Pid)) },
		func() {
			_ = command.Process.Kill()
			go func() { _ = command.Wait() }()
		},
	}
}

// stateOf is the letter of a process or thread in its file stat.
func stateOf(folder string) byte {
	text, err := os.ReadFile(folder + "/stat")
	end := bytes.LastIndexByte(text, ')')
	if err != nil || end < 0 || end+2 >= len(text) {
		return 0
	}
	return text[end+2]
}
