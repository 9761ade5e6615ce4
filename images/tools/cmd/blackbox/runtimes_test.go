package main

import (
	"strings"
	"testing"

	"kdebug/tools/internal/unwind"
)

// stackOf is a stack, the innermost first: "raise libc.so.6" is a function and its file, else that of a static program; a file of source is behind "@".
func stackOf(functions ...string) []unwind.Frame {
	var frames []unwind.Frame
	for _, each := range functions {
		name, source, _ := strings.Cut(each, "@")
		name, module, found := strings.Cut(name, " ")
		if !found {
			module = "shop"
		}
		frames = append(frames, unwind.Frame{Function: name, Module: "/app/" + module, File: source})
	}
	return frames
}

func TestADeathIsToldByTheProgramsOwnFunction(t *testing.T) {
	for name, each := range map[string]struct {
		want  string
		stack []string
	}{
		"glibc": {"check", []string{
			"__pthread_kill_implementation.constprop.0", "raise", "abort", "__assert_fail_base.cold", "__assert_fail", "check", "main", "__libc_start_call_main", "__libc_start_main", "_start",
		}},
		"glibc, its words of a program": {"price", []string{"__strlen_avx2", "__printf_buffer", "vfprintf", "printf", "price", "main", "__libc_start_call_main"}},
		"a name that a program has too": {"connect", []string{"connect", "main", "__libc_start_call_main libc.so.6"}},
		"musl":                          {"grow", []string{"a_crash", "get_meta", "free", "grow", "main", "libc_start_main_stage2", "__libc_start_main", "_start_c"}},
		"musl, the end of main":         {"exit", []string{"exit", "libc_start_main_stage2", "__libc_start_main"}},
		"C++": {"shop::at", []string{
			"__pthread_kill_implementation.constprop.0", "raise", "abort", "__gnu_cxx::__verbose_terminate_handler", "__cxxabiv1::__terminate", "_ZSt9terminatev", "__cxa_throw",
			"_ZSt24__throw_out_of_range_fmtPKcz.cold", "std::vector<…>::at", "shop::at", "main", "__libc_start_call_main",
		}},
		"C++, a namespace as of Rust or Node.js": {"core::Engine::turn", []string{"abort", "core::Engine::turn", "node::insert", "main", "__libc_start_call_main"}},
		"C++, no memory":                         {"load", []string{"abort", "_ZSt9terminatev", "__cxa_throw", "_Znwm", "load"}},
		"Rust": {"shop::price_of", []string{
			"__pthread_kill_implementation.constprop.0", "gsignal", "abort", "std::process::abort", "__rustc::__rust_abort", "std::panicking::panic_with_hook",
			"_RINvNtNtCsjrHSEGnQ3l9_3std3sys9backtrace26___rust_end_short_backtraceNCNvNtB6_9panicking13panic_handler0zEB6_", "__rustc::rust_begin_unwind", "core::panicking::panic_fmt",
			"core::panicking::panic_bounds_check", "core::slice::index::index", "shop::price_of", "shop::main", "std::rt::lang_start", "main",
		}},
		"Rust, all of the runtime": {"std::rt::lang_start", []string{"std::rt::lang_start", "main"}},
		"Go":                       {"main.crash", []string{"runtime.exit@sys.s", "runtime.fatalpanic@panic.go", "runtime.sigpanic@signal.go", "main.crash@main.go", "main.main@main.go", "runtime.main@proc.go"}},
		"CPython, a module":        {"price_at", []string{"price_at prices.cpython-311-x86_64-linux-gnu.so", "cfunction_call python3.11", "_PyEval_EvalFrameDefault python3.11", "main python3.11"}},
		"CPython in a program":     {"price_at", []string{"PyObject_Repr", "_PyObject_Call", "price_at", "_PyEval_EvalFrameDefault", "Py_RunMain", "main"}},
		"Cython":                   {"__pyx_pf_4shop_price", []string{"abort libc.so.6", "__pyx_pf_4shop_price shop.so", "_PyEval_EvalFrameDefault libpython3.11.so.1.0"}},
		"CPython alone":            {"PyUnicode_New", []string{"raise libc.so.6", "PyUnicode_New python3.11", "_PyEval_EvalFrameDefault python3.11", "main python3.11"}},
		"Node.js, an add-on":       {"shop::Price", []string{"raise libc.so.6", "shop::Price shop.node", "v8::internal::Builtin_HandleApiCall node", "Builtins_CEntry node", "node::Start node", "main node"}},
		"Node.js in a program":     {"shop::Price", []string{"abort", "uv__run_check", "v8::internal::Handle", "shop::Price", "node::Start"}},
		"the JVM, a library":       {"Java_Shop_price", []string{"Java_Shop_price libshop.so", "JavaCalls::call_helper libjvm.so", "thread_native_entry libjvm.so"}},
		"the JVM alone":            {"Unsafe_PutLong", []string{"raise libc.so.6", "Unsafe_PutLong libjvm.so", "JavaThread::run libjvm.so"}},
		"Ruby, a gem":              {"price_at", []string{"price_at price.so", "vm_call_cfunc libruby.so.3.1", "rb_vm_exec libruby.so.3.1", "main ruby3.1"}},
		"PHP, an extension":        {"zif_price", []string{"zif_price shop.so", "execute_ex php-fpm8.2", "main php-fpm8.2"}},
		"a file with a like name":  {"serve", []string{"serve node_cache", "main node_cache"}},
		"no name at all":           {"", []string{" libc.so.6"}},
		"one name":                 {"abort", []string{" libc.so.6", "abort libc.so.6"}},
	} {
		if got := tellingFrame(stackOf(each.stack...)); got.Function != each.want {
			t.Errorf("%s: told by %q, not by %q", name, got.Function, each.want)
		}
	}
}
