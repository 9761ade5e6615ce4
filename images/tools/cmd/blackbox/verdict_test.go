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
		{"an exception of Java", "died_of_exit", "exit code 1, mostly an exception of Java", sceneOf(target.JVM, tracer.Death{Code: 1}, "exit", "__libc_start_main", "main")},
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

func TestAKillForMemoryIsToldByTheCount(t *testing.T) {
	seen := sceneOf(target.Native, tracer.Death{Signal: unix.SIGKILL}, "__memset_avx2", "grow")
	known := func(value int64) cgroup.Amount { return cgroup.Amount{Value: value, Known: true} }
	seen.self.before.memory.Kills = known(1)
	seen.memory = cgroup.Memory{Kills: known(2), Used: known(64 << 20), Limit: known(64 << 20)}
	seen.numbers = map[string]int64{"VmRSS": 60 << 20}
	code, words := seen.verdict()
	if code != "died_of_memory" || words != "Process 7 (shop) was killed for memory in grow+0x1 (shop): the container had 64 MiB of its 64 MiB, this process 60 MiB." {
		t.Errorf("%q %q", code, words)
	}
	seen.memory.Kills = known(1)
	if code, _ := seen.verdict(); code != "died_of_signal" {
		t.Errorf("without a kill for memory it is %q", code)
	}
}
