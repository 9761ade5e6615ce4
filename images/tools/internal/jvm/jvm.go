// Package jvm asks a running JVM for its threads, by the attach mechanism of HotSpot and OpenJ9.
package jvm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kdebug/tools/internal/run"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// Jattach is the program that speaks the JVM's attach protocol.
var Jattach = "/usr/bin/jattach"

// patience is how long the JVM may take to reach a point where it can answer.
const patience = 15 * time.Second

// Command gives a JVM one diagnostic command, as jcmd does, and returns its answer. Lack must be nil before. Fails with
// run.ErrTimeout when the JVM does not answer until the context ends. The JVM keeps its attach socket, /tmp/.java_pidPID.
func Command(ctx context.Context, t *target.Target, args ...string) (string, error) {
	out, err := run.Output(ctx, Jattach, strconv.Itoa(t.PID), "jcmd", strings.Join(args, " "))
	text := string(out)
	if _, answer, found := strings.Cut(text, "response code = "); found {
		_, text, _ = strings.Cut(answer, "\n")
	}
	return text, err
}

// Lack says why nobody can attach to this JVM, before anything is tried: who attaches to a JVM that does not expect it may
// end it. Nil if it should work.
func Lack(t *target.Target, self target.Self) *target.Lack {
	if lack := t.Blindness(self); lack != nil {
		return lack
	}
	if !t.HasJVM() {
		return &target.Lack{Lacks: "a JVM: the process has none in it, and SIGQUIT may end it"}
	}
	if socket := t.FS().Path(t.PID, "root", "tmp", fmt.Sprintf(".java_pid%d", t.PID)); isSocket(socket) {
		return nil
	}
	if option := disabledBy(t); option != "" {
		return &target.Lack{Lacks: "attaching: the JVM runs with " + option}
	}
	// The JVM opens its socket at SIGQUIT; one that has no handler for it (-Xrs) would end.
	if !t.Handles(syscall.SIGQUIT) {
		return &target.Lack{Lacks: "attaching: the JVM does not handle SIGQUIT (-Xrs, or it is just starting), which would end it"}
	}
	if lack := t.Signal(self); lack != nil {
		return lack
	}
	if !writable(t.FS().Path(t.PID, "root", "tmp")) {
		return &target.Lack{Lacks: "attaching: the JVM needs a writable /tmp for its socket (an emptyDir there)"}
	}
	return nil
}

func isSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSocket != 0
}

func writable(path string) bool {
	const mayWrite = 2 // W_OK of access(2)
	return syscall.Access(path, mayWrite) == nil
}

// disabledBy is the option that forbids attaching, and where it stands; "" if none does.
func disabledBy(t *target.Target) string {
	const option = "-XX:+DisableAttachMechanism"
	for _, word := range t.Command {
		if word == option {
			return option
		}
	}
	variables, _ := t.Environ()
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"} {
		if strings.Contains(variables[name], option) {
			return option + " in " + name
		}
	}
	return ""
}

// Settings of Dump.
type Settings struct {
	// Sample is how long the threads' CPU is measured.
	Sample time.Duration
	// Histogram also counts the objects of the heap, without a collection: the JVM stops for that.
	Histogram bool
	// ToItsLog lets the JVM write its threads into its own log where attaching is impossible.
	ToItsLog bool
}

// Dump gives the threads of one JVM.
func Dump(ctx context.Context, t *target.Target, self target.Self, settings Settings) *stack.Dump {
	dump := &stack.Dump{Process: t.Process, Runtime: strings.TrimSpace("JVM " + t.Version), Pause: "five dumps, each of which stopped the JVM for some milliseconds"}
	if dump.Lack = Lack(t, self); dump.Lack != nil {
		dump.Pause = ""
		throughItsLog(t, dump, self, settings.ToItsLog)
		return dump
	}
	text, err := sampled(ctx, t, dump, settings.Sample)
	if errors.Is(err, run.ErrTimeout) {
		dump.Silent = fmt.Sprintf("the JVM did not answer within %d s: it cannot bring its threads to a stop, or is stopped itself", int(patience.Seconds()))
		return dump
	}
	if err != nil {
		dump.Lack = &target.Lack{Lacks: "attaching: " + err.Error()}
		throughItsLog(t, dump, self, settings.ToItsLog)
		return dump
	}
	dump.Text = text
	for index := range dump.Threads {
		mark(&dump.Threads[index])
	}
	if found := versionLine.FindStringSubmatch(text); found != nil {
		dump.Runtime = "JVM " + found[1]
	}
	if heap, err := heapInfo(ctx, t); err == nil {
		dump.Text += "\n" + heap
		if heap, known := ParseHeap(heap); known {
			dump.Heap, dump.HeapFull = heap.Words(), heap.IsOld() && heap.Percent() >= 90
			dump.Notes = append(dump.Notes, "heap: "+dump.Heap)
		}
	}
	addVirtual(ctx, t, dump)
	if settings.Histogram {
		within, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		// -all counts what nobody can reach as well: without it the JVM collects the whole heap first.
		if text, err := Command(within, t, "GC.class_histogram", "-all"); err == nil {
			dump.Files = append(dump.Files, stack.File{Name: "histogram.txt", Content: []byte(text)})
		} else {
			dump.Notes = append(dump.Notes, "no class histogram: "+err.Error())
		}
	}
	return dump
}

func heapInfo(ctx context.Context, t *target.Target) (string, error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return Command(within, t, "GC.heap_info")
}

// HeapOf asks a JVM how full its heap is. Lack must be nil before. False where it does not say.
func HeapOf(ctx context.Context, t *target.Target) (Heap, bool) {
	text, err := heapInfo(ctx, t)
	if err != nil {
		return Heap{}, false
	}
	return ParseHeap(text)
}

// dumps is how many are taken in one look: where a thread computes changes.
const dumps = 5

// versionLine heads each dump.
var versionLine = regexp.MustCompile(`(?m)^Full thread dump .* \(([0-9][0-9._+-]{0,30}?)(?:-[A-Za-z].*)? `)

// sampled takes several dumps while it measures the threads' CPU. It gives the last one, whose threads it puts into dump.
func sampled(ctx context.Context, t *target.Target, dump *stack.Dump, length time.Duration) (text string, err error) {
	watch := thread.Start(t.FS(), t.PID)
	running := map[int][][]string{}
	for range dumps {
		if err := run.Pause(ctx, length/dumps); err != nil {
			return text, err
		}
		within, cancel := context.WithTimeout(ctx, patience)
		text, err = Command(within, t, "Thread.print", "-l")
		cancel()
		if err != nil {
			return text, err
		}
		dump.Threads, dump.Deadlocks = Parse(text)
		for _, each := range dump.Threads {
			if each.State == "RUNNABLE" && len(each.Frames) > 0 {
				running[each.ID] = append(running[each.ID], each.Frames)
			}
		}
	}
	seen := watch.Read()
	for index := range dump.Threads {
		dump.Threads[index].Kernel = seen[dump.Threads[index].ID]
	}
	for id, stacks := range running {
		for _, frames := range stacks {
			if used := seen[id].Running; used > 0 {
				dump.Hot = append(dump.Hot, stack.Sample{Frames: frames, Value: used / float64(len(stacks))})
			}
		}
	}
	dump.Collecting, _ = Collecting(workOf(text, seen))
	return text, nil
}

// workOf is what each thread of the JVM did, by the name that a dump gives it: some JVMs give the kernel none.
func workOf(text string, seen map[int]thread.Seen) []Work {
	var work []Work
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, `"`) {
			continue
		}
		if found := header.FindStringSubmatch(line); found != nil {
			id, _ := strconv.ParseInt(found[2], 0, 64)
			each := seen[int(id)]
			work = append(work, Work{found[1], each.Running, each.Ready})
		}
	}
	return work
}

// throughItsLog: without attaching, SIGQUIT makes a JVM write its threads to its standard output, which is its own log.
func throughItsLog(t *target.Target, dump *stack.Dump, self target.Self, wished bool) {
	if !t.HasJVM() || !t.Handles(syscall.SIGQUIT) || t.Signal(self) != nil {
		return
	}
	if !wished {
		dump.Notes = append(dump.Notes, "SIGQUIT would make the JVM write its threads into its own log: ask with STACKS_TO_LOG=yes")
		return
	}
	if err := syscall.Kill(t.PID, syscall.SIGQUIT); err != nil {
		dump.Notes = append(dump.Notes, "SIGQUIT was refused: "+err.Error())
		return
	}
	dump.Notes = append(dump.Notes, "the JVM was told to write its threads into its own log (SIGQUIT): read it there, from \"Full thread dump\" on")
}

// FirstLine is the first line of an answer that says something.
func FirstLine(answer string) string {
	for line := range strings.Lines(answer) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return "the JVM said nothing"
}
