package run

import (
	"runtime/debug"
	"syscall"
)

// MaxMemory is how much memory this process may take, and each that it starts. An ephemeral container has no limit of its own, and a library
// that reads what a target wrote may ask for any amount: better that we end than that the kernel ends a neighbour.
const MaxMemory = 1 << 30

// Bound sets the limit, for good. An error of the kernel leaves things as they were.
func Bound() {
	debug.SetMemoryLimit(MaxMemory * 3 / 4)
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: MaxMemory, Max: MaxMemory})
}
