package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/sock"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

// start runs a Node that says "ready", with an inspector at a port of its own choice.
func start(t *testing.T, script string, options ...string) *target.Target {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node here")
	}
	command := exec.Command(program, append(append([]string{"--inspect-port=0"}, options...), "-e", "console.log('ready');"+script)...)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Skipf("node did not start: %q", line)
	}
	found, err := target.Of(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if found.Runtime != target.Node {
		t.Skipf("%s is no node itself", program)
	}
	return found
}

const loop = "function busy() { const until = Date.now() + 60; while (Date.now() < until); setTimeout(busy, 20); } busy()"

func TestARunningNodeIsProfiledAndClosedAgain(t *testing.T) {
	for name, script := range map[string]string{"a loop that turns": loop, "a loop that never turns": "function busy() { while (true); } setTimeout(busy, 1)"} {
		found := start(t, script)
		time.Sleep(50 * time.Millisecond)
		if lack := Lack(found, target.Whoami()); lack != nil {
			t.Fatalf("%s: %+v", name, lack)
		}
		dump := Dump(context.Background(), found, target.Whoami(), time.Second)
		if dump.Lack != nil || dump.Silent != "" || dump.Exposed != "" {
			t.Fatalf("%s: %+v", name, dump)
		}
		// A function that V8 optimized before the profiler started counts as its caller, the timer.
		seen := slices.ContainsFunc(dump.Hot, func(sample stack.Sample) bool {
			return strings.HasPrefix(sample.Frames[0], "busy (") || strings.HasPrefix(sample.Frames[0], "listOnTimeout (")
		})
		if len(dump.Hot) == 0 || script == loop && !seen {
			t.Errorf("%s: %v", name, dump.Hot)
		}
		if left := sock.Listeners(found.FS(), found.PID); len(left) != 0 {
			t.Errorf("%s: it still listens at %v", name, left)
		}
	}
}

func TestTheEndOfTheWorkClosesTheInspector(t *testing.T) {
	found := start(t, loop)
	ctx, cancel := context.WithTimeout(context.Background(), 700*time.Millisecond)
	defer cancel()
	if _, err := ProfileOf(ctx, found, time.Minute); err == nil {
		t.Error("no error")
	}
	if left := sock.Listeners(found.FS(), found.PID); len(left) != 0 {
		t.Errorf("it still listens at %v", left)
	}
}

func TestAnOpenInspectorStaysOpenAndIsTold(t *testing.T) {
	found := start(t, loop, "--inspect=127.0.0.1:0")
	dump := Dump(context.Background(), found, target.Whoami(), 200*time.Millisecond)
	if !strings.HasPrefix(dump.Exposed, "the inspector was open already") || dump.Lack != nil {
		t.Errorf("%+v", dump)
	}
	if left := sock.Listeners(found.FS(), found.PID); len(left) != 1 {
		t.Errorf("it listens at %v", left)
	}
}

func TestAProcessThatTheSignalWouldEndIsLeftAlone(t *testing.T) {
	found := sleeper(t)
	if lack := Lack(found, target.Whoami()); lack == nil || !strings.Contains(lack.Lacks, "SIGUSR1") {
		t.Errorf("%+v", lack)
	}
}

// An inspector that was open when it was asked may be closed, or too slow, a moment later.
func TestTheSignalIsNotSentToWhoStoppedHandlingIt(t *testing.T) {
	found := sleeper(t)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := ProfileOf(ctx, found, time.Millisecond); !errors.Is(err, ErrUnhandled) {
		t.Errorf("%v", err)
	}
	time.Sleep(100 * time.Millisecond)
	if status, err := found.FS().Status(fmt.Sprint(found.PID)); err != nil || status.State == 'Z' {
		t.Error("it was ended")
	}
}

// sleeper is a process that handles no signal.
func sleeper(t *testing.T) *target.Target {
	t.Helper()
	command := exec.Command("sleep", "60")
	if err := command.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	found, err := target.Of(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAProfileBecomesStacks(t *testing.T) {
	raw := `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","url":"","lineNumber":-1},"children":[2,3]},
		{"id":2,"callFrame":{"functionName":"main","url":"file:///app/a.js","lineNumber":4},"children":[4]},
		{"id":3,"callFrame":{"functionName":"(idle)","url":"","lineNumber":-1}},
		{"id":4,"callFrame":{"functionName":"","url":"file:///app/a.js","lineNumber":9}}],
		"samples":[4,4,3,2],"timeDeltas":[100,10,20,30]}`
	stacks, err := Parse([]byte(raw))
	if err != nil || len(stacks) != 2 {
		t.Fatalf("%v %v", stacks, err)
	}
	for _, each := range stacks {
		if strings.Join(each.Frames, ";") == "main (a.js:5);(anonymous) (a.js:10)" && each.Value != 30 {
			t.Errorf("%+v", each)
		}
	}
	if _, err := Parse([]byte("no")); err == nil {
		t.Error("no error")
	}
}

// A profile of a few MiB can say a deep chain of calls with a sample at each: its stacks would take gigabytes.
func TestAProfileOfManyFramesIsRefused(t *testing.T) {
	const deep = 20_000
	var nodes, samples, deltas strings.Builder
	for id := 1; id <= deep; id++ {
		fmt.Fprintf(&nodes, `{"id":%d,"callFrame":{"functionName":"f"},"children":[%d]},`, id, id+1)
		fmt.Fprintf(&samples, "%d,", id)
		deltas.WriteString("1,")
	}
	raw := fmt.Sprintf(`{"nodes":[%s{"id":%d,"callFrame":{}}],"samples":[%s1],"timeDeltas":[%s1]}`, nodes.String(), deep+1, samples.String(), deltas.String())
	if stacks, err := Parse([]byte(raw)); !errors.Is(err, flame.ErrTooLarge) {
		t.Errorf("%d stacks, %v", len(stacks), err)
	}
}

func TestAStoppedProcessIsNotAsked(t *testing.T) {
	found := start(t, loop)
	if err := syscall.Kill(found.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); !found.Stopped() && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	dump := Dump(context.Background(), found, target.Whoami(), 100*time.Millisecond)
	_ = syscall.Kill(found.PID, syscall.SIGCONT)
	time.Sleep(time.Second)
	if dump.Lack == nil || !strings.Contains(dump.Lack.Lacks, "stopped") {
		t.Errorf("%+v", dump.Lack)
	}
	if left := sock.Listeners(found.FS(), found.PID); len(left) != 0 {
		t.Errorf("it listens at %v since it goes on", left)
	}
}

// The work ends while a process without CPU has not opened its inspector yet.
func TestAnInspectorThatOpensLateIsClosed(t *testing.T) {
	found := start(t, loop)
	if err := syscall.Kill(found.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	time.AfterFunc(time.Second, func() { _ = syscall.Kill(found.PID, syscall.SIGCONT) })
	if _, err := ProfileOf(ctx, found, time.Minute); err == nil {
		t.Error("no error")
	}
	time.Sleep(1500 * time.Millisecond)
	if left := sock.Listeners(found.FS(), found.PID); len(left) != 0 {
		t.Errorf("it still listens at %v", left)
	}
}
