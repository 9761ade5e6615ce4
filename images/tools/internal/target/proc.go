package target

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// FS is a /proc: the real one, or one that a test made.
type FS string

// Proc is the real one.
const Proc FS = "/proc"

// Path is the path of a process' file.
func (fs FS) Path(pid int, parts ...string) string {
	return filepath.Join(append([]string{string(fs), strconv.Itoa(pid)}, parts...)...)
}

// Status is what /proc/PID/status says; everybody may read it.
type Status struct {
	Name        string
	State       byte
	Parent      int
	UID, GID    int
	Permitted   uint64
	Effective   uint64
	Caught      uint64
	Threads     int
	ResidentKiB int64
	// Seccomp is the mode of the filter of calls: 0 none, 2 a filter; -1 where the kernel does not say.
	Seccomp int
	// Slots is how much room its table of open files has: it grows with what was ever open at once.
	Slots int
}

// Catches is whether the process has a handler of its own for a signal. Without one, SIGUSR1 and SIGQUIT end it.
func (s Status) Catches(signal syscall.Signal) bool { return s.Caught>>(signal-1)&1 == 1 }

// Status reads one process' or thread's status; path is the folder, as "1" or "1/task/7".
func (fs FS) Status(path string) (Status, error) {
	text, err := os.ReadFile(filepath.Join(string(fs), path, "status"))
	if err != nil {
		return Status{}, err
	}
	status := Status{UID: -1, Seccomp: -1}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		first, _, _ := strings.Cut(value, "\t")
		switch key {
		case "Name":
			status.Name = value
		case "State":
			if value != "" {
				status.State = value[0]
			}
		case "PPid":
			status.Parent, _ = strconv.Atoi(value)
		case "Uid":
			status.UID, err = strconv.Atoi(first)
		case "Gid":
			status.GID, err = strconv.Atoi(first)
		case "CapPrm":
			status.Permitted, err = strconv.ParseUint(value, 16, 64)
		case "CapEff":
			status.Effective, err = strconv.ParseUint(value, 16, 64)
		case "SigCgt":
			status.Caught, err = strconv.ParseUint(value, 16, 64)
		case "Threads":
			status.Threads, _ = strconv.Atoi(value)
		case "Seccomp":
			status.Seccomp, _ = strconv.Atoi(value)
		case "FDSize":
			status.Slots, _ = strconv.Atoi(value)
		case "VmRSS":
			kib, _, _ := strings.Cut(value, " ")
			status.ResidentKiB, _ = strconv.ParseInt(kib, 10, 64)
		}
		if err != nil {
			return Status{}, fmt.Errorf("%s/status: %w", path, err)
		}
	}
	if status.UID < 0 {
		return Status{}, fmt.Errorf("%s/status has no Uid", path)
	}
	return status, nil
}

// PIDs are the numbers of all visible processes, in ascending order of their names.
func (fs FS) PIDs() []int { return numbersIn(string(fs)) }

// Threads are the ids of a process' threads.
func (fs FS) Threads(pid int) []int { return numbersIn(fs.Path(pid, "task")) }

func numbersIn(folder string) []int {
	entries, _ := os.ReadDir(folder)
	var numbers []int
	for _, entry := range entries {
		if number, err := strconv.Atoi(entry.Name()); err == nil && number > 0 {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// Times are the CPU time that a process or thread used itself, and its start, both in ticks of 10 ms. Path is its folder.
func (fs FS) Times(path string) (used, start int64, err error) {
	text, err := os.ReadFile(filepath.Join(string(fs), path, "stat"))
	if err != nil {
		return 0, 0, err
	}
	// The name in parentheses may hold anything, also ") ".
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return 0, 0, fmt.Errorf("%s/stat is too short", path)
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	start, _ = strconv.ParseInt(fields[19], 10, 64)
	return user + system, start, nil
}

// Cmdline is a process' arguments; empty for a kernel thread. Everybody may read it.
func (fs FS) Cmdline(pid int) []string {
	text, _ := os.ReadFile(fs.Path(pid, "cmdline"))
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// Environ is a process' environment. It needs the rights of ptrace.
func (fs FS) Environ(pid int) (map[string]string, error) {
	text, err := os.ReadFile(fs.Path(pid, "environ"))
	if err != nil {
		return nil, err
	}
	variables := map[string]string{}
	for pair := range strings.SplitSeq(string(text), "\x00") {
		if name, value, found := strings.Cut(pair, "="); found {
			variables[name] = value
		}
	}
	return variables, nil
}

// Yama is the kernel's ptrace_scope, or 0 where it has none: 1 lets only a parent attach, 2 only CAP_SYS_PTRACE, 3 nobody.
func (fs FS) Yama() int {
	text, err := os.ReadFile(filepath.Join(string(fs), "sys/kernel/yama/ptrace_scope"))
	if err != nil {
		return 0
	}
	scope, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return scope
}

// capabilities in the order of their bits (capabilities(7)).
var capabilities = strings.Fields(`CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE
	NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT
	SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE
	MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE`)

// Capabilities are the names of a set, without CAP_.
func Capabilities(set uint64) []string {
	var names []string
	for bit, name := range capabilities {
		if set>>bit&1 == 1 {
			names = append(names, name)
		}
	}
	return names
}

// Has is whether a set has the capability of that name.
func Has(set uint64, name string) bool {
	for bit, each := range capabilities {
		if each == name {
			return set>>bit&1 == 1
		}
	}
	return false
}
