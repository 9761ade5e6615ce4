package main

import (
	"slices"

	"kdebug/tools/internal/target"
	"kdebug/tools/internal/unwind"
)

// reason is why a program ends itself, where a function whose name begins so is on the stack of its end.
type reason struct {
	functions []string
	words     string
	// isNamed is whether the stack has the function that is to blame.
	isNamed bool
	log     string
}

// reasons are looked for in this order: a later one may be how an earlier one ends.
var reasons = []reason{
	{functions: []string{"__assert_fail"}, words: "of an assertion that failed", isNamed: true},
	{functions: []string{"__stack_chk_fail", "__chk_fail"}, words: "of a buffer that was written beyond its end", isNamed: true},
	{functions: []string{"std::panicking::", "__rustc::rust_begin_unwind", "rust_begin_unwind"}, words: "of a panic of Rust that nobody caught", isNamed: true},
	{functions: []string{"__cxa_throw"}, words: "of an exception of C++ that nobody caught", isNamed: true},
	{functions: []string{"_ZSt9terminatev"}, words: "by std::terminate()", isNamed: true},
	{functions: []string{"Py_FatalError", "_Py_FatalError"}, words: "of a fatal error of Python itself", isNamed: true, log: ": its log says which"},
	{functions: []string{"v8::internal::V8::FatalProcessOutOfMemory", "v8::Utils::ReportOOMFailure", "node::OOMErrorHandler"}, words: "of a JavaScript heap that was full"},
	{functions: []string{"_Z25report_java_out_of_memory", "MemAllocator::Allocation::check_out_of_memory"}, words: "of a heap of Java that was full"},
	{functions: []string{"node::errors::TriggerUncaughtException"}, words: "of an error of Node.js that nobody caught", log: ": its log has the stack"},
	{functions: []string{"node::Environment::Exit", "node::ReallyExit"}, words: "by process.exit"},
	{functions: []string{"Py_Exit"}, words: "by sys.exit"},
}

// reason is ", of a panic of Rust that nobody caught in price+0x1 (shop)"; "" where the stack tells none.
func (s *scene) reason(frames []unwind.Frame) string {
	for _, each := range reasons {
		if !callsLike(frames, each.functions) {
			continue
		}
		words := ", " + each.words
		if each.isNamed {
			words += s.where(" in ")
		}
		return words + each.log
	}
	return ""
}

func callsLike(frames []unwind.Frame, beginnings []string) bool {
	return slices.ContainsFunc(frames, func(frame unwind.Frame) bool { return beginsWith(frame.Function, beginnings) })
}

// abortWords say why a program called abort(), and where.
func (s *scene) abortWords() string {
	// The JVM that is no first process ends itself so behind a crash.
	if words := jvmCrashWords(s.frames()); words != "" {
		return words
	}
	if words := s.reason(s.frames()); words != "" {
		return words
	}
	return s.where(", called in ")
}

// goFatal are what Go's own checks find, by the function that then ends the program.
var goFatal = []reason{
	{functions: []string{"internal/runtime/maps.fatal", "runtime.map"}, words: " (a map that goroutines used at the same time)", isNamed: true},
	{functions: []string{"sync.fatal", "internal/sync.fatal"}, words: " (a lock that was not held)", isNamed: true},
	{functions: []string{"runtime.newstack"}, words: " (a stack that was full)"},
	{functions: []string{"runtime.checkdead"}, words: " (a deadlock: all goroutines waited)", log: ": its log has their stacks"},
}

func (s *scene) goFatalWords(frames []unwind.Frame) string {
	const words = ", of a fatal error of Go's runtime"
	caller := behind(frames, "runtime.throw")
	if len(caller) == 0 {
		caller = behind(frames, "runtime.fatal")
	}
	for _, each := range goFatal {
		if len(caller) == 0 || !beginsWith(caller[0].Function, each.functions) {
			continue
		}
		if each.isNamed {
			return words + each.words + s.where(" in ")
		}
		return words + each.words + each.log
	}
	return words + s.where(" in ")
}

// rustPanicked is the exit code of a program of Rust whose main function panicked.
const rustPanicked = 101

// uncaughtWords are for the end of a program whose language tells an error only by its exit code: its stack is gone by then.
func (s *scene) uncaughtWords(frames []unwind.Frame) string {
	isEnd := isEndOfMain(frames)
	runtime := s.self.runtimeOf(s.death.PID)
	who := uncaught[runtime]
	switch {
	case isEnd && s.death.Code == rustPanicked && s.isRust:
		return ", of a panic of Rust that nobody caught: its log has the place"
	case s.death.Code != 1 || who == "":
		return ""
	case len(frames) == 0 || s.isModule || runtime == target.Ruby:
		return ", mostly of " + who
	case isEnd:
		return ", of " + who
	}
	return ""
}

// isEndOfMain is whether the C library ended the program behind its main function.
func isEndOfMain(frames []unwind.Frame) bool {
	_, found := machineFrame(frames)
	return !found && calls(frames, starts...)
}
