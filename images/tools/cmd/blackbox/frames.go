package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/unwind"
)

const maxName = 160

// nameOf is a frame in words: "crash+0x12 (app)", "main.crash (main.go:12)".
func nameOf(frame unwind.Frame) string {
	module := report.Name(path.Base(strings.TrimSuffix(frame.Module, " (deleted)")), maxName)
	if frame.Module == "" {
		module = "no file"
	}
	switch {
	case frame.File != "":
		return report.Line(fmt.Sprintf("%s (%s:%d)", report.Name(frame.Function, maxName), report.Name(path.Base(frame.File), maxName), frame.Line), maxName)
	case frame.Function != "":
		return report.Line(fmt.Sprintf("%s+%#x (%s)", report.Name(frame.Function, maxName), frame.Plus, module), maxName)
	}
	return report.Line(fmt.Sprintf("%#x (%s)", frame.Offset, module), maxName)
}

// folded is a frame as stacks.folded has it: without what changes from run to run.
func folded(frame unwind.Frame) string {
	name := frame.Function
	if name == "" {
		name = "[" + path.Base("/"+frame.Module) + "]"
	}
	return strings.ReplaceAll(report.Line(name, maxName), ";", ":")
}

// ends are functions of C libraries and of Go by which a program ends itself or waits, or that stand below every program.
var ends = map[string]bool{
	"exit": true, "_exit": true, "_Exit": true, "__GI__exit": true, "__GI_exit": true, "__run_exit_handlers": true, "exit_group": true, "quick_exit": true,
	"abort": true, "__GI_abort": true, "raise": true, "__GI_raise": true, "gsignal": true, "pthread_kill": true, "__pthread_kill_implementation": true,
	"__pthread_kill_internal": true, "__pthread_kill": true, "pthread_kill@@GLIBC_2.34": true, "tkill": true, "__libc_message": true, "__assert_fail": true,
	"__assert_fail_base": true, "__restore_rt": true, "__kernel_rt_sigreturn": true, "_start": true, "start_thread": true, "clone": true, "clone3": true, "__clone": true, "__clone3": true,
	"__libc_exit_group": true, "malloc_printerr": true, "__fortify_fail": true, "__stack_chk_fail": true, "a_crash": true,
	"malloc": true, "calloc": true, "realloc": true, "free": true, "sysmalloc": true, "brk": true, "sbrk": true, "mmap": true, "mmap64": true,
	"memset": true, "memcpy": true, "memmove": true,
	"nanosleep": true, "__nanosleep": true, "clock_nanosleep": true, "__clock_nanosleep": true, "usleep": true, "sleep": true, "epoll_wait": true, "epoll_pwait": true,
	"pthread_cond_wait": true, "pthread_cond_timedwait": true, "pthread_mutex_lock": true,
}

// ofLibrary are what the names of a C library's own functions begin with.
var ofLibrary = []string{"__mem", "__str", "_int_", "__libc_", "__GI_", "_IO_", "__sysmalloc", "__default_morecore", "__cxa_", "_ZSt"}

// ofRust are what the names of Rust's own functions begin with, those of C++ that begin in the same way included.
var ofRust = []string{"std::", "core::", "alloc::", "__rustc::", "rust_", "__rust_"}

// genericOfRust is the name of one with generics, which stays as the compiler wrote it.
var genericOfRust = regexp.MustCompile(`^_R[A-Za-z]*C[0-9A-Za-z]*_(3std|4core|5alloc)`)

// ownGo are the packages of Go's own that a program is called through.
var ownGo = []string{"runtime.", "runtime/", "internal/", "syscall.", "os.Exit", "log.", "panic", "sync."}

// ofC are the files of the C library, by what their names begin with.
var ofC = []string{"libc.so", "libc-", "libc.musl", "ld-", "libpthread", "libm.so", "libm-", "libstdc++", "libgcc_s", "libc++"}

// ownFrame is the innermost frame that is neither the C library's nor Go's own, as far as names tell: of the program or of a library of its own. False
// where there is none.
func ownFrame(frames []unwind.Frame) (unwind.Frame, bool) {
	for _, frame := range frames {
		if isStart(frame) {
			// What is below began the program.
			break
		}
		if strings.HasPrefix(frame.Module, "/") && !isOfRuntime(frame) && !isOfC(frame) {
			return frame, true
		}
	}
	return unwind.Frame{}, false
}

// starts are the functions of C libraries that call main.
var starts = []string{"__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main"}

func isStart(frame unwind.Frame) bool { return slices.Contains(starts, frame.Function) }

func isOfC(frame unwind.Frame) bool {
	for _, each := range ofC {
		if strings.HasPrefix(path.Base(frame.Module), each) {
			return true
		}
	}
	return false
}

func isOfRuntime(frame unwind.Frame) bool {
	name, _, _ := strings.Cut(frame.Function, "@")
	if ends[name] {
		return true
	}
	if beginsWith(name, ofLibrary) {
		return true
	}
	if frame.File == "" {
		return beginsWith(name, ofRust) || genericOfRust.MatchString(name)
	}
	return beginsWith(frame.Function, ownGo)
}

func beginsWith(name string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(each string) bool { return strings.HasPrefix(name, each) })
}

// calls is whether a function is among the frames.
func calls(frames []unwind.Frame, names ...string) bool {
	for _, frame := range frames {
		for _, name := range names {
			if frame.Function == name {
				return true
			}
		}
	}
	return false
}

// behind are the frames that called a function; none where it is not among them.
func behind(frames []unwind.Frame, name string) []unwind.Frame {
	for index, frame := range frames {
		if frame.Function == name {
			return frames[index+1:]
		}
	}
	return nil
}
