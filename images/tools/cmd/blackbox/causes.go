package main

import (
	"encoding/binary"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/tracer"
	"kdebug/tools/internal/unwind"
)

const invalid = "an invalid instruction, as compilers put where a program must not come"

// codes of siginfo_t in words.
var codes = map[unix.Signal]map[int32]string{
	unix.SIGSEGV: {1: "nothing is there", 2: "that is not allowed there", 0x80: "an address that cannot be, or an instruction that is not allowed"},
	unix.SIGBUS:  {1: "not aligned", 2: "there is no such memory", 3: "the file behind it is shorter, or cannot be read", 4: "the memory is broken", 5: "the memory is broken"},
	unix.SIGFPE:  {1: "a division by zero", 2: "an overflow of whole numbers", 3: "a division by zero", 4: "an overflow", 5: "an underflow", 7: "an invalid operation"},
	unix.SIGILL:  {1: invalid, 2: invalid, 5: "an instruction that only the kernel may use", 0x80: invalid},
	unix.SIGTRAP: {1: "a breakpoint", 2: "a single step", 0x80: "a breakpoint"},
	unix.SIGSYS:  {1: "a system call that the seccomp filter refuses"},
}

const (
	// firstPages: an address below is that of a pointer of zero, with the offset of a field.
	firstPages = 64 << 10
	// nearStack is how far below the stack pointer an overflow may touch.
	nearStack = 1 << 20
	noAddress = 0x80
)

// cause says in words why a fault was: "address 0x0, a nil pointer".
func (s *scene) cause() string {
	info := s.death.Info
	words := codes[info.Signal][info.Code]
	switch info.Signal {
	case unix.SIGSEGV, unix.SIGBUS:
		if info.Code == noAddress {
			return words
		}
		if info.Address == s.pc() {
			return fmt.Sprintf("a jump to address %#x, where no code is", info.Address)
		}
		return fmt.Sprintf("address %#x, %s", info.Address, s.place(info, words))
	case unix.SIGSYS:
		return fmt.Sprintf("%s: %s", words, tracer.Call{Number: int(info.Call)}.Name())
	case unix.SIGTRAP:
		if runtime.GOARCH == "arm64" && isTrap(s.code) {
			return invalid
		}
	}
	return words
}

// isTrap is whether an instruction of arm64 is a brk of a compiler (__builtin_trap), which has ud2 for it on amd64: those of debuggers have the number 0.
func isTrap(code []byte) bool {
	const brk, number = 0xd420_0000, 0xffff << 5
	if len(code) < 4 {
		return false
	}
	found := binary.LittleEndian.Uint32(code)
	return found&^number == brk && found&number != 0
}

func (s *scene) place(info tracer.Info, otherwise string) string {
	switch {
	case info.Address < firstPages:
		return "a nil pointer"
	case s.isOverflow(info.Address):
		return "the end of its stack: it is full"
	}
	if each, found := unwind.At(s.maps, info.Address); found {
		return fmt.Sprintf("memory that is %s", mayBe(each.May))
	}
	return otherwise
}

// isOverflow is an address near the stack pointer where the stack has ended.
func (s *scene) isOverflow(address uint64) bool {
	stack := s.sp()
	if address+nearStack < stack || address > stack+nearStack {
		return false
	}
	each, mapped := unwind.At(s.maps, address)
	return !mapped || each.May[:2] == "--"
}

func mayBe(may string) string {
	switch {
	case may[0] != 'r':
		return "not accessible"
	case may[1] != 'w':
		return "not writable"
	case may[2] != 'x':
		return "not executable"
	}
	return "mapped"
}

// sender says who sent a signal.
func (s *scene) sender(info tracer.Info) string {
	switch {
	case info.Sender == 0:
		return "from outside the container"
	case int(info.Sender) == s.death.PID:
		return "by itself"
	}
	return fmt.Sprintf("by process %d", info.Sender)
}

func signalName(signal unix.Signal) string {
	if name := unix.SignalName(signal); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(signal))
}
