package tracer

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/target"
)

// about is what /proc says of a thread at a stop.
type about struct {
	group           int
	caught, ignored uint64
	isInit          bool
	state           byte
	tracer          int
}

// aboutThread reads the status of a thread by its id alone: /proc/TID is there for each thread.
func aboutThread(fs target.FS, tid int) (about, error) {
	text, err := read(fs.Path(tid, "status"))
	if err != nil {
		return about{}, err
	}
	var seen about
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "State":
			seen.state = (value + " ")[0]
		case "Tgid":
			seen.group, err = strconv.Atoi(value)
		case "TracerPid":
			seen.tracer, err = strconv.Atoi(value)
		case "NSpid":
			seen.isInit = lastWord(value) == "1"
		case "SigIgn":
			seen.ignored, err = strconv.ParseUint(value, 16, 64)
		case "SigCgt":
			seen.caught, err = strconv.ParseUint(value, 16, 64)
		}
		if err != nil {
			return about{}, fmt.Errorf("status of thread %d: %w", tid, err)
		}
	}
	// A thread's own number is another than that of its process.
	if seen.group != tid {
		seen.isInit = isInit(fs, seen.group)
	}
	return seen, nil
}

func isInit(fs target.FS, pid int) bool {
	text, _ := read(fs.Path(pid, "status"))
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(line, "NSpid:"); is {
			return lastWord(value) == "1"
		}
	}
	return pid == 1
}

func lastWord(text string) string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// handles is whether a signal does not end the process: it is caught or ignored.
func (a about) handles(signal unix.Signal) bool {
	return (a.caught|a.ignored)>>(signal-1)&1 == 1
}

// NoCall is the number of no system call.
const NoCall = -1

// Call is the system call that a stopped thread is in.
type Call struct {
	Number    int
	Arguments [6]uint64
}

// CallOf reads it; NoCall where it is in none, or nobody may look.
func CallOf(fs target.FS, pid, tid int) Call {
	text, _ := read(fs.Path(pid, "task", strconv.Itoa(tid), "syscall"))
	call := Call{Number: NoCall}
	words := strings.Fields(text)
	if len(words) < 7 {
		return call
	}
	number, err := strconv.Atoi(words[0])
	if err != nil {
		return call
	}
	call.Number = number
	for at := range call.Arguments {
		call.Arguments[at], _ = strconv.ParseUint(strings.TrimPrefix(words[at+1], "0x"), 16, 64)
	}
	return call
}

// living are the threads of a process that have not ended, without one.
func living(fs target.FS, pid, without int) []int {
	var alive []int
	for _, tid := range fs.Threads(pid) {
		if tid != without && isAlive(fs, pid, tid) {
			alive = append(alive, tid)
		}
	}
	return alive
}

func isAlive(fs target.FS, pid, tid int) bool {
	state := stateOf(fs, pid, tid)
	return state != 'Z' && state != 'X' && state != 0
}

// hasOthers is whether a process has a living thread besides some; mostly its first.
func hasOthers(fs target.FS, pid int, without map[int]bool) bool {
	if !without[pid] && isAlive(fs, pid, pid) {
		return true
	}
	for _, tid := range fs.Threads(pid) {
		if !without[tid] && isAlive(fs, pid, tid) {
			return true
		}
	}
	return false
}

// isOf is whether a thread is one of a process.
func isOf(tid, pid int) bool { return unix.Tgkill(pid, tid, 0) == nil }

const maxRead = 8 << 10

// read reads a small file of /proc in three calls: each stop of a target waits for it.
func read(path string) (string, error) {
	file, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(file)
	var data [maxRead]byte
	size, err := unix.Read(file, data[:])
	if err != nil {
		return "", err
	}
	return string(data[:size]), nil
}

func stateOf(fs target.FS, pid, tid int) byte {
	text, err := read(fs.Path(pid, "task", strconv.Itoa(tid), "stat"))
	if err != nil {
		return 0
	}
	at := strings.LastIndexByte(text, ')')
	if at < 0 || at+2 >= len(text) {
		return 0
	}
	return text[at+2]
}

// Name is the name of the system call, as "read"; "" for none, and "system call 999" for one that is not known.
func (c Call) Name() string {
	if c.Number < 0 {
		return ""
	}
	names := strings.Fields(callNames)
	if c.Number < len(names) && names[c.Number] != "-" {
		return names[c.Number]
	}
	return fmt.Sprintf("system call %d", c.Number)
}
