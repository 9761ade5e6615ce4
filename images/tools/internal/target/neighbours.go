package target

import (
	"fmt"
	"os"
	"syscall"
)

// Neighbour is the first process of a container that could be meant.
type Neighbour struct {
	PID int
	// Name is the process' own, Container what the pod calls its container; empty where it cannot be seen.
	Name, Container string
}

// FindFirst is Find for a look at the container as a whole: the target is the container's first process alone, even where it is a shell or an init, and it
// has no other Processes. The neighbours are those of all containers whose processes are visible, one where KDEBUG_TARGET named it.
func FindFirst() (*Target, []Neighbour, error) {
	return Proc.findFirst(os.Getpid(), os.Getenv("KDEBUG_TARGET"))
}

func (fs FS) findFirst(own int, wanted string) (*Target, []Neighbour, error) {
	first, container, neighbours := fs.firsts(own, wanted)
	if first == 0 {
		return nil, nil, fs.whyNone(own, wanted)
	}
	status, err := fs.Status(fmt.Sprint(first))
	if err != nil {
		return nil, nil, ErrNoTarget
	}
	return fs.one(first, status, container), neighbours, nil
}

// OneOf is the process with this number as a target, whatever container it is in; its runtime is not looked for.
func OneOf(pid int) (*Target, error) {
	status, err := Proc.Status(fmt.Sprint(pid))
	if err != nil {
		return nil, err
	}
	return Proc.one(pid, status, Proc.container(pid)), nil
}

func (fs FS) one(pid int, status Status, container string) *Target {
	target := &Target{Process: Process{PID: pid, Status: status, Command: fs.Cmdline(pid)}, First: pid, Container: container, Yama: fs.Yama(), fs: fs}
	target.UsedTicks, target.Start, _ = fs.Times(fmt.Sprint(pid))
	target.seeRoot()
	return target
}

// Contained is whether the target has a root of its own: else what lies there is ours, or the machine's.
func (t *Target) Contained() bool {
	theirs, err := os.Stat(t.Root() + "/.")
	if err != nil {
		return true
	}
	ours, err := os.Stat("/proc/self/root/.")
	if err != nil {
		return true
	}
	a, b := theirs.Sys().(*syscall.Stat_t), ours.Sys().(*syscall.Stat_t)
	return a.Dev != b.Dev || a.Ino != b.Ino
}

// Child is a child of ours as a target of which nothing is known yet but the name of its program.
func Child(pid int, name string) *Target {
	process := Process{PID: pid, Status: Status{Name: name, UID: os.Getuid(), GID: os.Getgid()}, Runtime: Unknown}
	return &Target{Process: process, First: pid, Processes: []Process{process}, Yama: Proc.Yama(), fs: Proc}
}
