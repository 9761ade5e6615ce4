package jvm

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/run"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

const (
	// firstWithVirtual is the first JDK that can dump its virtual threads.
	firstWithVirtual = 21
	// maxVirtual is how much of that dump is read, and spaceForVirtual what the target's /tmp must have free for it.
	maxVirtual, spaceForVirtual = 24 << 20, 64 << 20
	// maxFrames is how many frames of a virtual thread are kept.
	maxFrames = 200
)

var major = regexp.MustCompile(`^JVM (\d{1,4})`)

// hasVirtual is whether a dump of Thread.print, which shows no virtual thread, is of a JVM that runs some.
func hasVirtual(dump *stack.Dump) bool {
	version := major.FindStringSubmatch(dump.Runtime)
	if version == nil || number(version[1], 10) < firstWithVirtual {
		return false
	}
	return slices.ContainsFunc(dump.Threads, func(thread stack.Thread) bool {
		return strings.HasPrefix(thread.Name, "VirtualThread-un") || strings.HasPrefix(thread.Name, "ForkJoinPool-1-worker-") ||
			slices.ContainsFunc(thread.Frames, func(frame string) bool { return strings.HasPrefix(frame, "java.lang.VirtualThread.") })
	})
}

// addVirtual puts the JVM's virtual threads into a dump, or says in it that they are not there. The JVM writes them into a file of the target's
// /tmp, which is removed.
func addVirtual(ctx context.Context, t *target.Target, dump *stack.Dump) {
	if !hasVirtual(dump) {
		return
	}
	found, err := twice(ctx, t, dump)
	if err != nil {
		dump.Unseen = "its virtual threads are not looked at: " + err.Error()
		return
	}
	if len(found) == 0 {
		return
	}
	dump.Threads = append(dump.Threads, found...)
	dump.Text += "\nVirtual threads\n" + textOf(found)
	dump.Notes = append(dump.Notes, fmt.Sprintf("%d of the threads are virtual", len(found)))
}

// between is the time between two dumps of virtual threads: the kernel does not know them, so who is at the same place in both has waited.
const between = 1200 * time.Millisecond

func twice(ctx context.Context, t *target.Target, dump *stack.Dump) ([]stack.Thread, error) {
	ids := javaIDs(dump.Text)
	content, err := virtualOf(ctx, t)
	if err != nil {
		return nil, err
	}
	first, err := ParseVirtual(content, nil, ids)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := run.Pause(ctx, between); err != nil {
		return nil, err
	}
	if content, err = virtualOf(ctx, t); err != nil {
		return nil, err
	}
	second, err := ParseVirtual(content, dump.Threads, ids)
	stayed(first, second, time.Since(began))
	return second, err
}

// stayed sets how long those have waited that are in both dumps with the same frames. One that runs both times computes.
func stayed(first, second []stack.Thread, elapsed time.Duration) {
	key := func(each stack.Thread) string { return each.Name + "\n" + strings.Join(each.Frames, "\n") }
	before, ran := map[string]bool{}, map[string]bool{}
	for _, each := range first {
		before[key(each)] = true
		ran[each.Name] = ran[each.Name] || runs(each)
	}
	for index := range second {
		each := &second[index]
		switch {
		case each.State != "RUNNABLE" && before[key(*each)]:
			each.Kernel.Waited = elapsed
		case runs(*each) && ran[each.Name]:
			each.Kernel.Class, each.Kernel.Words = thread.OnCPU, "computing"
		}
	}
}

// runs is whether a virtual thread is in the program's own code and waits for nothing that its frames name.
func runs(each stack.Thread) bool {
	return each.State == "RUNNABLE" && each.Kernel.Class == "" && each.Own != "" && each.WaitsFor == ""
}

func virtualOf(ctx context.Context, t *target.Target) ([]byte, error) {
	var system syscall.Statfs_t
	if err := syscall.Statfs(t.Root()+"/tmp", &system); err != nil {
		return nil, errors.New("their dump needs a /tmp")
	}
	if free := int64(system.Bavail) * system.Bsize; free < spaceForVirtual {
		return nil, fmt.Errorf("their dump may need %d MiB of /tmp, which has %d free", spaceForVirtual>>20, free>>20)
	}
	root, err := os.OpenRoot(t.Root())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := "tmp/kdebug-" + strings.ToLower(rand.Text()[:10]) + ".json"
	defer func() { _ = root.Remove(name) }()
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := Command(within, t, "Thread.dump_to_file", "-format=json", "/"+name)
	if err != nil {
		return nil, err
	}
	file, err := t.Open("/" + name)
	if err != nil {
		return nil, errors.New(FirstLine(answer))
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxVirtual+1))
	if err == nil && len(content) > maxVirtual {
		err = fmt.Errorf("there are too many: their dump has more than %d MiB", maxVirtual>>20)
	}
	return content, err
}

// javaID is the number of a thread that Java gives it, in the head of Thread.print.
var javaID = regexp.MustCompile(`(?m)^".*" #(\d{1,19}) .*\bnid=(0x[0-9a-f]{1,16}|\d{1,19})`)

// javaIDs gives the kernel's numbers of the platform threads by Java's.
func javaIDs(text string) map[string]int {
	ids := map[string]int{}
	for _, found := range javaID.FindAllStringSubmatch(text, MaxThreads) {
		id, _ := strconv.ParseInt(found[2], 0, 64)
		ids[found[1]] = int(id)
	}
	return ids
}

type virtualThread struct {
	ID        json.RawMessage `json:"tid"`
	Virtual   bool            `json:"virtual"`
	Name      string          `json:"name"`
	State     string          `json:"state"`
	Stack     []string        `json:"stack"`
	BlockedOn string          `json:"blockedOn"`
	Blocker   struct {
		Object string `json:"object"`
	} `json:"parkBlocker"`
	Owned []struct {
		Locks []string `json:"locks"`
	} `json:"monitorsOwned"`
}

// ParseVirtual reads an answer to Thread.dump_to_file -format=json: it gives the virtual threads, and puts the locks that platform threads hold,
// as that dump names them, to these; ids are the kernel's numbers by Java's. JDK 21 to 23 name no state and no lock.
func ParseVirtual(content []byte, platform []stack.Thread, ids map[string]int) ([]stack.Thread, error) {
	var dump struct {
		Dump struct {
			Containers []struct {
				Threads []virtualThread `json:"threads"`
			} `json:"threadContainers"`
		} `json:"threadDump"`
	}
	if err := json.Unmarshal(content, &dump); err != nil {
		return nil, errors.New("their dump is not what a JVM writes")
	}
	byID := map[int]*stack.Thread{}
	for index := range platform {
		byID[platform[index].ID] = &platform[index]
	}
	var threads []stack.Thread
	for _, container := range dump.Dump.Containers {
		for _, each := range container.Threads {
			number := string(bytes.Trim(each.ID, `"`))
			var locks []string
			for _, owned := range each.Owned {
				locks = append(locks, owned.Locks...)
			}
			kernel, isPlatform := ids[number]
			if isPlatform || !each.Virtual && each.State != "" {
				if thread := byID[kernel]; thread != nil {
					thread.Holds = append(thread.Holds, locks...)
				}
				continue
			}
			if len(threads) == MaxThreads {
				return threads, nil
			}
			threads = append(threads, threadOf(each, number, locks))
		}
	}
	return threads, nil
}

func threadOf(each virtualThread, number string, locks []string) stack.Thread {
	found := stack.Thread{Name: each.Name, State: each.State, Holds: locks}
	if found.Name == "" {
		found.Name = "virtual " + number
	}
	for _, frame := range each.Stack[:min(len(each.Stack), maxFrames)] {
		found.Frames = append(found.Frames, module.ReplaceAllString(frame, ""))
	}
	if found.State == "" {
		found.State = "RUNNABLE"
		if len(found.Frames) > 0 && (strings.Contains(found.Frames[0], ".park") || strings.Contains(found.Frames[0], "yieldContinuation")) {
			found.State = "WAITING"
		}
	}
	mark(&found)
	found.Kernel.Class, found.Kernel.Words = classOf(found.Frames)
	if found.WaitsFor = each.BlockedOn; found.WaitsFor == "" {
		found.WaitsFor = each.Blocker.Object
	}
	found.WaitsForKind, _, _ = strings.Cut(found.WaitsFor, "@")
	return found
}

// classOf says what the frames of a virtual thread wait for, where they are those of a socket or of sleep; nothing for others.
func classOf(frames []string) (thread.Class, string) {
	for _, frame := range frames[:min(len(frames), 8)] {
		switch {
		case strings.HasPrefix(frame, "sun.nio.ch.NioSocketImpl.connect") || strings.HasPrefix(frame, "sun.nio.ch.NioSocketImpl.timedFinishConnect"):
			return thread.Socket, "connecting"
		case strings.HasPrefix(frame, "sun.nio.ch.NioSocketImpl.accept"):
			return thread.Queue, "waiting for a connection"
		case strings.HasPrefix(frame, "sun.nio.ch.NioSocketImpl.implWrite"):
			return thread.Socket, "sending to a connection"
		case strings.HasPrefix(frame, "sun.nio.ch.NioSocketImpl.implRead") || strings.HasPrefix(frame, "sun.nio.ch.SocketChannelImpl.blockingRead") || strings.HasPrefix(frame, "sun.nio.ch.SocketChannelImpl.read"):
			return thread.Socket, "reading from a connection"
		case strings.HasPrefix(frame, "java.lang.Thread.sleep"):
			return thread.Timer, "sleeping"
		case isOwn(frame):
			return "", ""
		}
	}
	return "", ""
}

// module is what stands before a class: its loader and module, as "java.base/".
var module = regexp.MustCompile(`^[^/($]{0,200}/(?:[^/($]{0,200}/)?`)

func textOf(threads []stack.Thread) string {
	var text strings.Builder
	for _, thread := range threads {
		fmt.Fprintf(&text, "\n\"%s\" %s\n", report.Line(thread.Name, 40), report.Line(thread.State, 40))
		if thread.WaitsFor != "" {
			fmt.Fprintf(&text, "\t- waits for %s\n", report.Line(thread.WaitsFor, 240))
		}
		for _, frame := range thread.Frames {
			fmt.Fprintf(&text, "\tat %s\n", report.Line(frame, 240))
		}
	}
	return text.String()
}
