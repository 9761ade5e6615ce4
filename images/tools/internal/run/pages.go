package run

import (
	"os"
	"path"
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

// WithoutHugePages refuses huge pages for what this process touches from now on, and for what it starts: where a node gives them to everybody (always), a heap
// takes 2 MiB at a time, and the memory is the pod's. What the runtime touched before stays. To start anew without them would make us unreadable for
// "autodiagnose stop", as our program may not be read. False where they were refused before, or cannot be.
func WithoutHugePages() bool {
	isRefused, err := unix.PrctlRetInt(unix.PR_GET_THP_DISABLE, 0, 0, 0, 0)
	return err == nil && isRefused == 0 && unix.Prctl(unix.PR_SET_THP_DISABLE, 1, 0, 0, 0) == nil
}

// AllowHugePages takes that back.
func AllowHugePages() { _ = unix.Prctl(unix.PR_SET_THP_DISABLE, 0, 0, 0, 0) }
