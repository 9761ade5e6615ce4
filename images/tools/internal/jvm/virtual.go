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

	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
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
	content, err := virtualOf(ctx, t)
	var found []stack.Thread
	if err == nil {
		found, err = ParseVirtual(content, dump.Threads, javaIDs(dump.Text))
	}
	if err != nil {
		dump.Notes = append(dump.Notes, "virtual threads are not looked at: "+err.Error())
		return
	}
	dump.Threads = append(dump.Threads, found...)
	dump.Text += "\nVirtual threads\n" + textOf(found)
	dump.Notes = append(dump.Notes, fmt.Sprintf("%d of the threads are virtual", len(found)))
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
	thread := stack.Thread{Name: each.Name, State: each.State, Holds: locks}
	if thread.Name == "" {
		thread.Name = "virtual thread " + number
	}
	for _, frame := range each.Stack[:min(len(each.Stack), maxFrames)] {
		thread.Frames = append(thread.Frames, module.ReplaceAllString(frame, ""))
	}
	if thread.State == "" {
		thread.State = "RUNNABLE"
		if len(thread.Frames) > 0 && (strings.Contains(thread.Frames[0], ".park") || strings.Contains(thread.Frames[0], "yieldContinuation")) {
			thread.State = "WAITING"
		}
	}
	thread.Own, thread.Idle = Own(thread.Frames), Idle(thread.Frames)
	if thread.WaitsFor = each.BlockedOn; thread.WaitsFor == "" {
		thread.WaitsFor = each.Blocker.Object
	}
	thread.WaitsForKind, _, _ = strings.Cut(thread.WaitsFor, "@")
	return thread
}

// module is what stands before a class: its loader and module, as "java.base/".
var module = regexp.MustCompile(`^[^/($]{0,200}/(?:[^/($]{0,200}/)?`)

func textOf(threads []stack.Thread) string {
	var text strings.Builder
	for _, thread := range threads {
		fmt.Fprintf(&text, "\n\"%s\" %s\n", thread.Name, thread.State)
		if thread.WaitsFor != "" {
			fmt.Fprintf(&text, "\t- waits for %s\n", thread.WaitsFor)
		}
		for _, frame := range thread.Frames {
			fmt.Fprintf(&text, "\tat %s\n", frame)
		}
	}
	return text.String()
}
