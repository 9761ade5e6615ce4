package tracer

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// seizeOptions: to be told of threads that begin and end. Not EXITKILL: when this process ends, however it does, the kernel lets all go.
const seizeOptions uintptr = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXIT

func ptrace(request, tid int, address, data uintptr) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), address, data, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func seize(tid int, options uintptr) error { return ptrace(unix.PTRACE_SEIZE, tid, 0, options) }

func interrupt(tid int) error { return ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0) }

// resume lets a stopped thread go on, with a signal or 0. One that was killed meanwhile is gone, which is no error.
func resume(tid int, signal unix.Signal) { _ = ptrace(unix.PTRACE_CONT, tid, 0, uintptr(signal)) }

// listen leaves a thread stopped that a signal like SIGSTOP stopped, and tells when that is over.
func listen(tid int) { _ = ptrace(unix.PTRACE_LISTEN, tid, 0, 0) }

func detach(tid int, signal unix.Signal) { _ = ptrace(unix.PTRACE_DETACH, tid, 0, uintptr(signal)) }

// Info is what the kernel says about a signal (siginfo_t).
type Info struct {
	Signal unix.Signal
	Code   int32
	// Sender and UID are of who sent it, where Code is 0 or below; Address is where a fault was.
	Sender, UID int32
	Address     uint64
	// Call is the number of the system call that a filter refused, for SIGSYS.
	Call int32
}

// siginfoSize is that of siginfo_t on each processor.
const siginfoSize = 128

func infoOf(tid int) (Info, error) {
	var raw [siginfoSize]byte
	//nolint:gosec // The kernel writes there.
	if err := ptrace(unix.PTRACE_GETSIGINFO, tid, 0, uintptr(unsafe.Pointer(&raw))); err != nil {
		return Info{}, err
	}
	number := func(at int) int32 { return int32(binary.NativeEndian.Uint32(raw[at:])) }
	return Info{
		Signal: unix.Signal(number(0)), Code: number(8), Sender: number(16), UID: number(20),
		Address: binary.NativeEndian.Uint64(raw[16:]), Call: number(24),
	}, nil
}

func eventMessage(tid int) (uint, error) { return unix.PtraceGetEventMsg(tid) }

// stop is one news of wait.
type stop struct {
	tid int
	// signal is the one of a stop, or that ended it; event is ptrace's, 0 for a signal that is to be delivered.
	signal unix.Signal
	event  int
	// over is whether the thread has ended, with this code or signal.
	over bool
	code int
	// isUntraced is whether a child that nobody traces was stopped by a signal.
	isUntraced bool
}

// The values of si_code for SIGCHLD.
const (
	childExited = 1
	childKilled = 2
	childDumped = 3
	// childStopped is for one that is not traced: the others are trapped.
	childStopped = 5
)

// await waits for news of one thread, or of any with 0. It leaves the news with the kernel (WNOWAIT): should this process be killed before it passed a
// signal on, the kernel delivers it. False where WNOHANG was asked for and there is none. A wait for any ends with EINTR when something is asked of us.
func await(tid, options int) (stop, bool, error) {
	kind := unix.P_PID
	if tid == 0 {
		kind = unix.P_ALL
	}
	for {
		var info unix.Siginfo
		err := unix.Waitid(kind, tid, &info, options|unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT|unix.WALL, nil)
		if errors.Is(err, unix.EINTR) && tid != 0 {
			continue
		}
		if err != nil {
			return stop{}, false, err
		}
		//nolint:gosec // The fields behind the common ones are at these places on all our processors.
		raw := (*[siginfoSize]byte)(unsafe.Pointer(&info))
		pid, status := int(binary.NativeEndian.Uint32(raw[16:])), int(binary.NativeEndian.Uint32(raw[24:]))
		if pid == 0 {
			return stop{}, false, nil
		}
		return newsOf(pid, int(info.Code), status), true, nil
	}
}

func newsOf(tid, code, status int) stop {
	switch code {
	case childExited:
		return stop{tid: tid, over: true, code: status}
	case childKilled, childDumped:
		return stop{tid: tid, over: true, signal: unix.Signal(status & 0x7f)}
	case childStopped:
		return stop{tid: tid, isUntraced: true}
	}
	return stop{tid: tid, signal: unix.Signal(status & 0xff), event: status >> 8}
}

// reap takes the news of a thread that has ended, so that its parent learns of it.
func reap(tid int) { _, _ = unix.Wait4(tid, nil, unix.WALL|unix.WNOHANG, nil) }
