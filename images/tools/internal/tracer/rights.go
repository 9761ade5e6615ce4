package tracer

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/target"
)

// GivesRights is whether a program has rights in its file that whoever runs it gets: a set-uid or set-gid bit, or capabilities. A traced one does not get
// them from a tracer without SYS_PTRACE (execve(2)). False where they would not be given without a tracer either.
func GivesRights(path string) bool {
	if isBarred() || target.Has(target.Whoami().Effective, "SYS_PTRACE") {
		return false
	}
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	size, err := unix.Getxattr(path, "security.capability", nil)
	return info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 || err == nil && size > 0
}

// isBarred is whether no program that we start gets more rights than we have.
func isBarred() bool {
	barred, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	return err == nil && barred == 1
}

// noteRights remembers that the process runs a program without the rights of its file, because it is traced.
func (w *Watch) noteRights(pid int) {
	w.lostRights = w.lostRights || GivesRights(fmt.Sprintf("/proc/%d/exe", pid))
}

// LostRights is whether a program ran without rights that its file gives. Only who calls Wait may ask.
func (w *Watch) LostRights() bool { return w.lostRights }
