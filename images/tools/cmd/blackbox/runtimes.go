package main

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"kdebug/tools/internal/unwind"
)

// language is how the functions of a language's own runtime are told from those of a program: a static program has all in one file.
type language struct {
	// modules is the name of a file that holds nothing else; nil for none.
	modules *regexp.Regexp
	// marks are what only its own functions begin with: one on the stack says that it is there. Empty: it always counts.
	marks []string
	// begins are what its functions begin with, but for those that begin with but; names are whole ones.
	begins, but, names []string
	// alone are names that a program may have of its own, too: they count where none of its files is on the stack.
	alone []string
	// isOfSource is whether it is known by a source file: Go's table has one for each function.
	isOfSource bool
}

// compiled are the languages of which nothing stands between a program and the machine: C (glibc and musl), C++, Go and Rust.
var compiled = []language{
	{
		modules: regexp.MustCompile(`^(libc\.so|libc-|libc\.musl|ld-|libpthread|libm\.so|libm-)`),
		// The C standard reserves such names; Cython takes some of them for functions of Python.
		begins: []string{"__", "_IO_", "_int_", "_dl_", "_nl_"}, but: []string{"__pyx_"},
		names: strings.Fields(`_exit _Exit _start _start_c exit exit_group quick_exit abort raise gsignal pthread_kill tkill start_thread clone clone3 malloc_printerr a_crash
			malloc calloc realloc free sysmalloc brk sbrk mmap mmap64 memset memcpy memmove nanosleep clock_nanosleep usleep sleep epoll_wait epoll_pwait
			pthread_cond_wait pthread_cond_timedwait pthread_mutex_lock`),
		alone: strings.Fields(`strlen strnlen strcpy strncpy strcat strncat strcmp strncmp strcasecmp strchr strrchr strstr strdup strndup strtok strtok_r strtol strtoul strtod atoi
			atol memcmp memchr printf fprintf sprintf snprintf vprintf vfprintf vsnprintf vsprintf puts fputs fputc putc putchar fgets fread fwrite fopen fclose fflush getline
			getdelim sscanf fscanf printf_core fmt_fp qsort qsort_r msort_with_tmp bsearch getenv setenv system popen longjmp siglongjmp sigaction kill wait waitpid wait4 fork
			vfork execve read write readv writev open openat close lseek poll ppoll select pselect recv recvfrom recvmsg send sendto sendmsg accept accept4 connect getaddrinfo
			pthread_join pthread_create pthread_exit pthread_mutex_unlock pthread_rwlock_rdlock pthread_rwlock_wrlock sem_wait sem_post futex_wait
			get_meta enframe alloc_group unmap_chunk malloc_consolidate munmap_chunk posix_memalign aligned_alloc start
			libc_start_main_stage2 libc_start_init`),
	},
	{
		modules: regexp.MustCompile(`^(libstdc\+\+|libgcc_s|libc\+\+|libunwind)`),
		// new and delete are in no namespace.
		begins: []string{"std::", "_ZSt", "_ZNSt", "_ZNKSt", "__cxa_", "__gnu_cxx::", "__cxxabiv1::", "_Unwind_", "_Znw", "_Zna", "_Zdl", "_Zda", "uw_"},
	},
	{begins: []string{"runtime.", "runtime/", "internal/", "syscall.", "os.Exit", "log.", "panic", "sync."}, isOfSource: true},
	{
		marks:  []string{"std::rt::", "std::sys::", "std::panicking::", "core::panicking::", "__rust", "rust_", "_RINv"},
		begins: []string{"core::", "alloc::", "rust_", "__rust", "hashbrown::"},
		// It calls the program's own.
		names: []string{"main"},
	},
}

// languages are all: with those that run a program by a machine of their own, which are CPython, V8 with Node.js, the JVM, and Ruby and PHP.
var languages = append(slices.Clone(compiled), []language{
	{
		modules: regexp.MustCompile(`^(lib)?python[\d.]*(\.so|$)`), marks: []string{"_PyEval_", "Py_RunMain", "Py_BytesMain", "PyEval_"},
		begins: []string{"_Py", "Py", "pymain_", "method_vectorcall", "cfunction_", "slot_tp_"},
	},
	{
		modules: regexp.MustCompile(`^(node|nodejs|node[\d.]+|libnode\.so.*)$`), marks: []string{"v8::", "node::", "Builtins_", "uv__"},
		begins: []string{"v8::", "node::", "Builtins_", "uv_", "cppgc::", "_ZN2v8", "_ZNK2v8", "_ZN4node"},
	},
	{
		modules: regexp.MustCompile(`^(libjvm\.so|libjli\.so|java)$`), marks: []string{"JavaCalls::", "JavaThread::", "JVM_", "VMError::"},
		begins: []string{"JavaCalls::", "JavaThread::", "Thread::", "VMError::", "JVM_", "os::", "jni_", "_Z7vm_exiti"}, names: []string{"thread_native_entry"},
	},
	{
		modules: regexp.MustCompile(`^(lib)?(ruby|php)(-fpm|-cgi)?[\d.]*(\.so.*|$)`), marks: []string{"rb_vm_", "vm_exec", "zend_"},
		begins: []string{"rb_", "vm_exec", "vm_call", "zend_", "php_"},
	},
}...)

// parts are what compilers put behind the name of a function of which they made another, or several.
var parts = regexp.MustCompile(`(\.(cold|part|constprop|isra|lto_priv|llvm)(\.[0-9A-F]+)?)+$`)

// genericOfRust is the name of one of Rust's own with generics, which stays as the compiler wrote it.
var genericOfRust = regexp.MustCompile(`^_R[A-Za-z]*C[0-9A-Za-z]*_(3std|4core|5alloc)`)

// ownFrame is the innermost frame that is of no runtime, as far as names tell: of the program or of a library of its own. False where there is none.
func ownFrame(frames []unwind.Frame) (unwind.Frame, bool) {
	return innermost(frames, func(frame unwind.Frame) bool { return !isOfAny(languages, frame, frames) })
}

// machineFrame is the innermost that is at least of the machine that runs the program, as the JVM.
func machineFrame(frames []unwind.Frame) (unwind.Frame, bool) {
	return innermost(frames, func(frame unwind.Frame) bool { return !isOfAny(compiled, frame, frames) })
}

// tellingFrame is the frame that a stack is told by: the program's own, else one of the machine that runs it, else one with a name.
func tellingFrame(frames []unwind.Frame) unwind.Frame {
	for _, find := range []func([]unwind.Frame) (unwind.Frame, bool){ownFrame, machineFrame} {
		if frame, found := find(frames); found {
			return frame
		}
	}
	if named := slices.IndexFunc(frames, func(frame unwind.Frame) bool { return frame.Function != "" }); named >= 0 {
		return frames[named]
	}
	return frames[0]
}

// innermost is the first frame of a file that is wanted. What is below the start of a program began it.
func innermost(frames []unwind.Frame, isWanted func(unwind.Frame) bool) (unwind.Frame, bool) {
	for _, frame := range frames {
		if isStart(frame) {
			break
		}
		if strings.HasPrefix(frame.Module, "/") && isWanted(frame) {
			return frame, true
		}
	}
	return unwind.Frame{}, false
}

func isOfAny(among []language, frame unwind.Frame, stack []unwind.Frame) bool {
	return slices.ContainsFunc(among, func(each language) bool { return each.has(frame, stack) })
}

// has is whether a frame of a stack is of the language's own runtime.
func (l language) has(frame unwind.Frame, stack []unwind.Frame) bool {
	if frame.File != "" || l.isOfSource {
		return l.isOfSource && frame.File != "" && beginsWith(frame.Function, l.begins)
	}
	if l.isFile(frame) {
		return true
	}
	name := plain(frame.Function)
	switch {
	case slices.Contains(l.alone, name):
		return !slices.ContainsFunc(stack, l.isFile)
	case genericOfRust.MatchString(name):
		return true
	case slices.Contains(l.names, name), beginsWith(name, l.begins) && !beginsWith(name, l.but):
		return len(l.marks) == 0 || callsLike(stack, l.marks)
	}
	return false
}

// isFile is whether a frame lies in a file that has nothing but the runtime.
func (l language) isFile(frame unwind.Frame) bool {
	return l.modules != nil && l.modules.MatchString(path.Base(frame.Module))
}

// plain is the name that a function has in its source: "abort" for "abort@@GLIBC_2.2.5", "raise" for "raise.part.0".
func plain(name string) string {
	name, _, _ = strings.Cut(name, "@")
	return parts.ReplaceAllString(name, "")
}
