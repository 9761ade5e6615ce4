package run

import (
	"os"
	"path"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The kernel calls a process that was started from /proc/self/exe "exe". A name is of a thread, and this runs on the first one.
func init() {
	var name [16]byte
	_ = unix.Prctl(unix.PR_GET_NAME, uintptr(unsafe.Pointer(&name)), 0, 0, 0) //nolint:gosec // The kernel writes there.
	if unix.ByteSliceToString(name[:]) != "exe" {
		return
	}
	if ours, err := unix.BytePtrFromString(path.Base(os.Args[0])); err == nil {
		_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(ours)), 0, 0, 0) //nolint:gosec // The kernel reads there.
	}
}

// RefuseHugePages starts this process again without huge pages, once. Where a node gives them to everybody (always), the heap takes 2 MiB at a time, and has
// begun before anything else can refuse them: the memory is the pod's. An error leaves us as we are.
func RefuseHugePages() {
	if WithoutHugePages() {
		_ = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	}
}

// WithoutHugePages refuses huge pages for what this process maps from now on, and for what it starts. False where they were refused before, or cannot be.
func WithoutHugePages() bool {
	isRefused, err := unix.PrctlRetInt(unix.PR_GET_THP_DISABLE, 0, 0, 0, 0)
	return err == nil && isRefused == 0 && unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0) == nil
}

// AllowHugePages takes that back.
func AllowHugePages() { _ = unix.Prctl(unix.PR_SET_THP_DISABLE, 0, 0, 0, 0) }
