package main

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/tracer"
	"kdebug/tools/internal/unwind"
)

// sceneOf is a death of process 7 (shop) of a runtime, at a stack.
func sceneOf(runtime target.Runtime, death tracer.Death, functions ...string) *scene {
	death.PID, death.Thread, death.At = 7, 7, time.Now()
	process := target.Process{PID: 7, Status: target.Status{Name: "shop"}, Runtime: runtime}
	var frames []unwind.Frame
	for _, each := range functions {
		frames = append(frames, unwind.Frame{Module: "/app/shop", Function: each, Plus: 1})
	}
	return &scene{death: &death, self: &look{target: &target.Target{Process: process, Processes: []target.Process{process}}}, stacks: map[int][]unwind.Frame{7: frames}}
}

func TestTheWordsOfAnEnd(t *testing.T) {
	told := &tracer.Told{Info: tracer.Info{Signal: unix.SIGTERM}, At: time.Now().Add(-30 * time.Second)}
	for _, each := range []struct {
		name, code, want string
		scene            *scene
	}{
		{"a crash in native code of the JVM", "died_of_exit", "exit code 1, of a crash that the JVM caught in Unsafe_PutLong+0x1 (shop)", sceneOf(target.JVM, tracer.Death{Code: 1}, "_exit", "os_abort", jvmHandler, "__restore_rt", "Unsafe_PutLong")},
		{"System.exit", "died_of_exit", "exit code 6, by System.exit", sceneOf(target.JVM, tracer.Death{Code: 6}, "exit", "os::exit")},
		{"an exception of Java", "died_of_exit", "exit code 1, of an exception of Java that nobody caught: its log", sceneOf(target.JVM, tracer.Death{Code: 1}, "exit", "__libc_start_main", "main")},
		{"an end of Java whose stack was not read", "died_of_exit", "exit code 1, mostly of an exception of Java that nobody caught", sceneOf(target.JVM, tracer.Death{Code: 1})},
		{"a Java heap that is full", "died_of_exit", "exit code 3, of a heap of Java that was full.", sceneOf(target.JVM, tracer.Death{Code: 3}, "exit", "os::exit", "_Z25report_java_out_of_memoryPKc")},
		{"an error of Node.js", "died_of_exit", "exit code 7, of an error of Node.js that nobody caught: its log has the stack.", sceneOf(target.Node, tracer.Death{Code: 7}, "exit", "node::Environment::Exit", "node::errors::TriggerUncaughtException")},
		{"process.exit", "died_of_exit", "exit code 1, by process.exit.", sceneOf(target.Node, tracer.Death{Code: 1}, "exit", "node::Environment::Exit", "Builtins_CEntry")},
		{"an end of Node.js whose stack was not read", "died_of_exit", "exit code 1, mostly of an error of Node.js", sceneOf(target.Node, tracer.Death{Code: 1})},
		{"an exception of Python", "died_of_exit", "exit code 1, of an exception of Python that nobody caught: its log", sceneOf(target.Python, tracer.Death{Code: 1}, "exit", "__libc_start_main", "_start")},
		{"sys.exit", "died_of_exit", "exit code 1, by sys.exit.", sceneOf(target.Python, tracer.Death{Code: 1}, "exit", "Py_Exit", "PyErr_PrintEx")},
		{"os._exit", "died_of_exit", "exit code 1, called in os_exit+0x1 (shop).", sceneOf(target.Python, tracer.Death{Code: 1}, "_exit", "os_exit", "_PyEval_EvalFrameDefault")},
		{"a deadlock of Go", "died_of_exit", "exit code 2, of a fatal error of Go's runtime (a deadlock: all goroutines waited): its log has their stacks.", sceneOf(target.Go, tracer.Death{Code: 2}, "runtime.exit", "runtime.fatal", "runtime.checkdead", "runtime.schedule", "runtime.newstack")},
		{"a map of Go", "died_of_exit", "Go's runtime (a map that goroutines used at the same time) in ", sceneOf(target.Go, tracer.Death{Code: 2}, "runtime.exit", "runtime.fatal", "internal/runtime/maps.fatal", "main.put")},
		{"another fatal error of Go", "died_of_exit", "of a fatal error of Go's runtime in ", sceneOf(target.Go, tracer.Death{Code: 2}, "runtime.exit", "runtime.throw", "main.put")},
		{"a failed assertion", "died_of_signal", "gave itself up by abort() (SIGABRT), of an assertion that failed in sell+0x1 (shop).", sceneOf(target.Native, tracer.Death{Signal: unix.SIGABRT}, "abort", "__assert_fail_base", "__assert_fail", "sell")},
		{"a panic of Rust that aborts", "died_of_signal", "of a panic of Rust that nobody caught in price_of+0x1 (shop).", sceneOf(target.Native, tracer.Death{Signal: unix.SIGABRT}, "abort", "std::process::abort", "std::panicking::panic_with_hook", "_RINvNtNtCsjrHSEGnQ3l9_3std3sys9backtrace26___rust_end_short_backtraceNCNvNtB6_9panicking13panic_handler0zEB6_", "core::panicking::panic_fmt", "price_of")},
		{"an exception of C++", "died_of_signal", "of an exception of C++ that nobody caught in _Z5priceRK5Order+0x1 (shop).", sceneOf(target.Native, tracer.Death{Signal: unix.SIGABRT}, "abort", "_ZSt9terminatev", "__cxa_throw", "_Z5priceRK5Order")},
		{"the end of main", "died_of_exit", "exit code 4, by the end of its main function", sceneOf(target.Native, tracer.Death{Code: 4}, "exit", "__libc_start_call_main", "_start")},
		{"a shell", "died_of_exit", "exit code 139, as a shell does whose child ended by SIGSEGV", sceneOf(target.Native, tracer.Death{Code: 139}, "exit")},
		{"a JVM that was told to end", "", "ended with exit code 143, 30 s after SIGTERM from outside the container, as it was asked to", sceneOf(target.JVM, tracer.Death{Code: 143, Told: told}, "exit")},
		{"a failure after SIGTERM", "died_of_exit", "exit code 5, called in stop+0x1 (shop), 30 s after SIGTERM", sceneOf(target.Native, tracer.Death{Code: 5, Told: told}, "exit", "stop")},
		{"SIGKILL of nobody known", "died_of_signal", "killed by SIGKILL; it was in serve+0x1 (shop)", sceneOf(target.Native, tracer.Death{Signal: unix.SIGKILL}, "serve")},
		{"a kill of another process", "died_of_signal", "died of SIGUSR1, sent by process 9; it was in serve", sceneOf(target.Native, tracer.Death{Signal: unix.SIGUSR1, HasInfo: true, Info: tracer.Info{Signal: unix.SIGUSR1, Sender: 9}}, "serve")},
		{"a misused pointer", "died_of_signal", "died of SIGSEGV (address 0x7f0000000000, nothing is there) in serve", sceneOf(target.Native, tracer.Death{Signal: unix.SIGSEGV, HasInfo: true, Info: tracer.Info{Signal: unix.SIGSEGV, Code: 1, Address: 0x7f0000000000}}, "serve")},
	} {
		code, words := each.scene.verdict()
		if code != each.code || !strings.Contains(words, each.want) || !strings.HasPrefix(words, "Process 7 (shop) ") {
			t.Errorf("%s: %q %q", each.name, code, words)
		}
	}
}

func TestAPanicOfRustIsToldByItsExitCodeAndItsProgram(t *testing.T) {
	seen := sceneOf(target.Native, tracer.Death{Code: rustPanicked}, "exit", "__libc_start_main")
	if _, words := seen.verdict(); !strings.Contains(words, "exit code 101, by the end of its main function") {
		t.Error(words)
	}
	seen.isRust = true
	if _, words := seen.verdict(); !strings.Contains(words, "exit code 101, of a panic of Rust that nobody caught: its log has the place.") {
		t.Error(words)
	}
}

func TestAModuleOfPythonEndsInTheSameWayBySysExit(t *testing.T) {
	seen := sceneOf(target.Python, tracer.Death{Code: 1}, "exit", "__libc_start_main")
	seen.isModule = true
	if _, words := seen.verdict(); !strings.Contains(words, "exit code 1, mostly of an exception of Python") {
		t.Error(words)
	}
}

func TestAPlaceWithoutANameIsToldByTheFunctionOfTheScript(t *testing.T) {
	seen := sceneOf(target.Python, tracer.Death{Signal: unix.SIGABRT}, "abort", "")
	seen.stacks[7][1] = unwind.Frame{Module: "/usr/bin/python3.11", Offset: 0x4f0a78}
	seen.scripts.own = map[int]unwind.Frame{7: {Function: "price_of", File: "/app/shop.py", Line: 5}}
	if _, words := seen.verdict(); !strings.Contains(words, "by abort() (SIGABRT), called in price_of (shop.py:5).") {
		t.Error(words)
	}
}

func TestAScriptIsToldRatherThanTheInterpreterThatRunsIt(t *testing.T) {
	seen := sceneOf(target.Python, tracer.Death{Signal: unix.SIGABRT})
	seen.stacks[7] = stackOf("abort libc.so.6", "_PyEval_EvalFrameDefault python3.11", "main python3.11")
	seen.scripts.own = map[int]unwind.Frame{7: {Function: "price_of", File: "/app/shop.py", Line: 5}}
	if _, words := seen.verdict(); !strings.Contains(words, "called in price_of (shop.py:5).") {
		t.Error(words)
	}
}

func TestAKillForMemoryIsToldByTheCount(t *testing.T) {
	seen := sceneOf(target.Native, tracer.Death{Signal: unix.SIGKILL}, "__memset_avx2", "grow")
	seen.self.before.memory.Kills = amount(1)
	seen.memory = cgroup.Memory{Kills: amount(2), Used: amount(64 << 20), Limit: amount(64 << 20)}
	seen.numbers = map[string]int64{"VmRSS": 60 << 20}
	code, words := seen.verdict()
	if code != "died_of_memory" || words != "Process 7 (shop) was killed for memory in grow+0x1 (shop): the container had 64 MiB of its 64 MiB, this process 60 MiB." {
		t.Errorf("%q %q", code, words)
	}
	seen.memory.Kills = amount(1)
	if code, _ := seen.verdict(); code != "died_of_signal" {
		t.Errorf("without a kill for memory it is %q", code)
	}
}

func TestATrapOfACompilerOnArm64IsNoBreakpoint(t *testing.T) {
	for name, each := range map[string]struct {
		code []byte
		want bool
	}{
		"gcc": {[]byte{0x00, 0x7d, 0x20, 0xd4}, true}, "clang": {[]byte{0x20, 0x00, 0x20, 0xd4}, true}, "a breakpoint": {[]byte{0x00, 0x00, 0x20, 0xd4}, false},
		"ret": {[]byte{0xc0, 0x03, 0x5f, 0xd6}, false}, "nothing": {nil, false},
	} {
		if got := isTrap(each.code); got != each.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
