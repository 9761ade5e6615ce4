// Package python reads the stacks of a running CPython from its memory, with py-spy.
package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/run"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// PySpy is the program.
var PySpy = "/usr/bin/py-spy"

// tries: without stopping the process, what is read may change meanwhile, and py-spy says so.
const tries = 5

type pythonThread struct {
	ID     int     `json:"os_thread_id"`
	Name   string  `json:"thread_name"`
	Active bool    `json:"active"`
	Owns   bool    `json:"owns_gil"`
	Frames []frame `json:"frames"`
}

type frame struct {
	Name string `json:"name"`
	File string `json:"short_filename"`
	Path string `json:"filename"`
	Line int    `json:"line"`
}

func (f frame) String() string { return fmt.Sprintf("%s (%s:%d)", f.Name, f.File, f.Line) }

const (
	// first is how long the CPU is measured before it is known whether samples are worth their cost.
	first = time.Second
	// minRunning is from which share of a CPU on it is sampled where a process computes: of less no share is told, and py-spy reads all stacks
	// each time, also those of threads that wait, which costs more than a half of a CPU.
	minRunning = 0.2
	// rate is how many samples a second: three seconds of one thread that computes give more than the fifty from which a share is told.
	rate = 25
)

var version = regexp.MustCompile(`^3\.(\d{1,3})`)

// HidesIDs is whether this Python (before 3.11) keeps to itself which of the kernel's threads is which of its own: py-spy then takes each that sleeps
// for one that computes.
func HidesIDs(t *target.Target) bool {
	found := version.FindStringSubmatch(t.Version)
	if found == nil {
		return false
	}
	minor, err := strconv.Atoi(found[1])
	return err == nil && minor < 11
}

// OfBusy are py-spy's words for the threads that compute: where it cannot tell them from others, those that have Python's own lock.
func OfBusy(t *target.Target) []string {
	if HidesIDs(t) {
		return []string{"--gil"}
	}
	return nil
}

// Dump gives the threads of one Python process. It stops nothing: the process runs on while it is read.
func Dump(ctx context.Context, t *target.Target, self target.Self, sample time.Duration) *stack.Dump {
	dump := &stack.Dump{Process: t.Process, Runtime: strings.TrimSpace("Python " + t.Version), Lack: t.Attach(self)}
	if dump.Lack != nil {
		return dump
	}
	watch := thread.Start(t.FS(), t.PID)
	run.Pause(ctx, min(first, sample))
	if max(running(watch.Read()), watch.Cores()) >= minRunning {
		samples, err := Sample(ctx, t, sample)
		if err != nil {
			dump.Notes = append(dump.Notes, "no samples: "+err.Error())
		}
		dump.Hot, dump.HotIsSampled = samples, err == nil
		for _, each := range samples {
			dump.Samples += int(each.Value)
		}
	}
	threads, err := read(ctx, t.PID)
	if err != nil {
		if errors.Is(err, run.ErrTimeout) {
			dump.Silent = "py-spy did not finish"
		} else {
			dump.Lack = lackOf(err, self)
		}
		return dump
	}
	seen := watch.Read()
	var text strings.Builder
	for _, each := range threads {
		found := threadOf(t, each, seen[each.ID])
		dump.Threads = append(dump.Threads, found)
		gil := ""
		if each.Owns {
			gil = ", has the GIL"
		}
		write(&text, each, stack.Does(found)+gil)
	}
	dump.Text = text.String()
	if HidesIDs(t) {
		dump.Unseen = "Python " + t.Version + " does not show what each thread waits for"
	}
	return dump
}

// write writes a thread for the file. The program chooses the names of threads, functions and files.
func write(text *strings.Builder, each pythonThread, does string) {
	fmt.Fprintf(text, "%s (thread %d): %s\n", report.Line(each.Name, 40), each.ID, does)
	for _, at := range each.Frames {
		fmt.Fprintf(text, "    %s (%s:%d)\n", report.Line(at.Name, 240), report.Line(at.Path, 240), at.Line)
	}
	text.WriteString("\n")
}

func threadOf(t *target.Target, each pythonThread, seen thread.Seen) stack.Thread {
	found := stack.Thread{ID: each.ID, Name: each.Name, Kernel: seen}
	for _, at := range each.Frames {
		found.Frames = append(found.Frames, at.String())
	}
	own := ownAt(each.Frames)
	if own >= 0 {
		found.Own = found.Frames[own]
	}
	found.Idle, found.Serves, found.InLoop = isIdle(each.Frames, own), serves(each.Frames, own), inLoop(each.Frames, own)
	if seen.Class == thread.Lock && !found.Idle && atLock(t, each.Frames) {
		found.State = stack.ForLock
	}
	return found
}

func running(seen map[int]thread.Seen) float64 {
	sum := 0.0
	for _, each := range seen {
		sum += each.Running
	}
	return sum
}

// lackOf turns py-spy's refusal into what is missing.
func lackOf(err error, self target.Self) *target.Lack {
	words := err.Error()
	if strings.Contains(words, "Permission") || strings.Contains(words, "permitted") {
		return self.Refused("ptrace: the kernel refused to read the target's memory (" + words + ")")
	}
	return &target.Lack{Lacks: "stacks: " + words}
}

// tornTries is how often a stack without its end is read again.
const tornTries = 2

func read(ctx context.Context, pid int) ([]pythonThread, error) {
	var last error
	torn := 0
	for range tries {
		within, cancel := context.WithTimeout(ctx, 20*time.Second)
		out, err := run.Output(within, PySpy, "dump", "--json", "--nonblocking", "--pid", strconv.Itoa(pid))
		cancel()
		var threads []pythonThread
		if err == nil {
			if err = json.Unmarshal(out, &threads); err == nil {
				if !isTorn(threads) || torn == tornTries {
					return threads, nil
				}
				torn++
				continue
			}
		}
		last = err
		if errors.Is(err, run.ErrTimeout) || strings.Contains(err.Error(), "Permission") {
			break
		}
	}
	return nil, last
}

// isTorn is whether a stack that changed while it was read may lack its end, of which py-spy does not tell: the outermost function of a thread is a
// module, or what starts a thread.
func isTorn(threads []pythonThread) bool {
	return slices.ContainsFunc(threads, func(each pythonThread) bool {
		if !each.Active || len(each.Frames) == 0 {
			return false
		}
		outermost := each.Frames[len(each.Frames)-1].Name
		return outermost != "<module>" && !strings.Contains(outermost, "_bootstrap")
	})
}

// Sample counts where the process' busy threads are for a time, without stopping it.
func Sample(ctx context.Context, t *target.Target, length time.Duration) ([]stack.Sample, error) {
	seconds := max(1, int(length.Seconds()))
	within, cancel := context.WithTimeout(ctx, time.Duration(seconds+20)*time.Second)
	defer cancel()
	// py-spy writes to a file only; this one is our pipe.
	words := []string{"record", "--nonblocking", "--duration", strconv.Itoa(seconds), "--rate", strconv.Itoa(rate), "--format", "raw", "--output", "/dev/stdout", "--pid", strconv.Itoa(t.PID)}
	out, err := run.Output(within, PySpy, append(words, OfBusy(t)...)...)
	if err != nil {
		return nil, err
	}
	return Parse(string(out)), nil
}

// Parse reads lines as "outer;inner 12". Others are py-spy's own words.
func Parse(text string) []stack.Sample {
	var samples []stack.Sample
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		space := strings.LastIndexByte(line, ' ')
		if space <= 0 || strings.HasPrefix(line, "py-spy>") {
			continue
		}
		count, err := strconv.Atoi(line[space+1:])
		if err != nil {
			continue
		}
		frames := strings.Split(line[:space], ";")
		for left, right := 0, len(frames)-1; left < right; left, right = left+1, right-1 {
			frames[left], frames[right] = frames[right], frames[left]
		}
		samples = append(samples, stack.Sample{Frames: frames, Value: float64(count)})
	}
	return samples
}
