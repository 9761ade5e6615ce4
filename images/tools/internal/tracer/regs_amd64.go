package tracer

import (
	"golang.org/x/sys/unix"

	"kdebug/tools/internal/unwind"
)

// The numbers of exit, exit_group, execve and execveat.
const (
	callExit, callExitGroup, callExec, callExecAt = unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_EXECVE, unix.SYS_EXECVEAT
)

func registersOf(tid int) (unwind.Registers, error) {
	var raw unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &raw); err != nil {
		return unwind.Registers{}, err
	}
	return unwind.Registers{
		PC: raw.Rip,
		Numbered: [unwind.Count]uint64{
			raw.Rax, raw.Rdx, raw.Rcx, raw.Rbx, raw.Rsi, raw.Rdi, raw.Rbp, raw.Rsp, raw.R8, raw.R9, raw.R10, raw.R11, raw.R12, raw.R13, raw.R14, raw.R15, raw.Rip,
		},
	}, nil
}

// numberOf is the number of the system call in which a stopped thread is, by its registers; NoCall for none.
func numberOf(tid int) int {
	var raw unix.PtraceRegs
	if unix.PtraceGetRegs(tid, &raw) != nil {
		return NoCall
	}
	return int(int64(raw.Orig_rax))
}

// siKernel is the code of a fault that the kernel raised without more to say.
const siKernel = 0x80

// again makes the instruction ready to fault once more when the thread runs on untraced. Most are: only a breakpoint and a refused system call have
// gone past it. A first process that is traced outlives a signal, and would go on behind the instruction.
func again(tid int, info Info) {
	var raw unix.PtraceRegs
	if unix.PtraceGetRegs(tid, &raw) != nil {
		return
	}
	const breakpoint, refused = 1, 2
	switch {
	case info.Signal == unix.SIGTRAP && info.Code == siKernel:
		raw.Rip -= breakpoint
	case info.Signal == unix.SIGSYS:
		raw.Rip -= refused
		raw.Rax, raw.Orig_rax = uint64(info.Call), ^uint64(0)
	default:
		return
	}
	_ = unix.PtraceSetRegs(tid, &raw)
}
