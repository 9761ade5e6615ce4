package tracer

import (
	"golang.org/x/sys/unix"

	"kdebug/tools/internal/unwind"
)

// The numbers of exit, exit_group, execve and execveat.
const (
	callExit, callExitGroup, callExec, callExecAt = unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_EXECVE, unix.SYS_EXECVEAT
)

// general is the set of the general registers (NT_PRSTATUS).
const general = 1

func registersOf(tid int) (unwind.Registers, error) {
	var raw unix.PtraceRegsArm64
	if err := unix.PtraceGetRegSetArm64(tid, general, &raw); err != nil {
		return unwind.Registers{}, err
	}
	registers := unwind.Registers{PC: raw.Pc}
	copy(registers.Numbered[:], raw.Regs[:])
	registers.Numbered[unwind.SP] = raw.Sp
	return registers, nil
}

// numberOf is the number of the system call in which a stopped thread is, or was last, by its registers.
func numberOf(tid int) int {
	const numberRegister = 8
	var raw unix.PtraceRegsArm64
	if unix.PtraceGetRegSetArm64(tid, general, &raw) != nil {
		return NoCall
	}
	return int(int32(raw.Regs[numberRegister]))
}

// again makes the instruction ready to fault once more when the thread runs on untraced. Only a refused system call has gone past it. A first process
// that is traced outlives a signal, and would go on behind the instruction.
func again(tid int, info Info) {
	const instruction = 4
	var raw unix.PtraceRegsArm64
	if info.Signal != unix.SIGSYS || unix.PtraceGetRegSetArm64(tid, general, &raw) != nil {
		return
	}
	raw.Pc -= instruction
	_ = unix.PtraceSetRegSetArm64(tid, general, &raw)
}
