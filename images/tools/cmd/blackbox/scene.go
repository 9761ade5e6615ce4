package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/tracer"
	"kdebug/tools/internal/unwind"
)

// baseline is what was counted before.
type baseline struct{ memory cgroup.Memory }

func (l *look) readBaseline() baseline { return baseline{l.group().ReadMemory()} }

// group is the cgroup of the target's container.
func (l *look) group() cgroup.Group {
	if l.isParent {
		return cgroup.At("/sys/fs/cgroup")
	}
	return cgroup.Of(l.target)
}

// scene is all that is seen of a death, while the process is held.
type scene struct {
	death  *tracer.Death
	self   *look
	name   string
	memory cgroup.Memory
	// numbers are those of /proc/PID/status that end in kB, by their names.
	numbers map[string]int64
	maps    []unwind.Mapping
	// stacks by thread: of those that were held.
	stacks  map[int][]unwind.Frame
	scripts scripts
	threads []threadLine
	files   openFiles
	code    []byte
	// isRust is asked only at the exit code of a panic.
	isRust bool
	// isModule is a program of Python that was started as "python -m NAME": it gives the code of sys.exit at the end of its main function.
	isModule bool
	// late is whether something was left out because the time was up.
	late bool
	held time.Duration
}

// threadLine is one thread as the kernel shows it.
type threadLine struct {
	id    int
	name  string
	state string
	call  tracer.Call
	top   string
}

const (
	// enough is when no more is begun: what is there must still be written.
	enough = 600 * time.Millisecond
	// first is when the stack that counts must be read.
	first = 700 * time.Millisecond
	// latest is when what is not there is left out.
	latest = 780 * time.Millisecond
	// maxStacks threads are unwound, the one that died first, and maxFrames of each are kept.
	maxStacks, maxFrames = 64, 64
	maxThreads           = 200
	// scriptsAtMost is how long the frames of a script may take.
	scriptsAtMost = 200 * time.Millisecond
	instruction   = 16
)

// hasTime is whether something more may be looked at.
func (s *scene) hasTime() bool {
	if time.Since(s.death.At) < enough {
		return true
	}
	s.late = true
	return false
}

// see looks at the process, what matters most first. What takes too long is left out: all of it, where a full pod lets us wait for memory.
func (l *look) see(death *tracer.Death) *scene {
	glanced, whole := make(chan scene, 1), make(chan *scene, 1)
	go func() {
		seen := l.sceneOf(death)
		seen.glance()
		glanced <- *seen
		seen.look(l.target)
		whole <- seen
	}()
	select {
	case seen := <-whole:
		return seen
	case <-time.After(time.Until(death.At.Add(latest))):
	}
	seen := *l.sceneOf(death)
	select {
	case seen = <-glanced:
	default:
	}
	seen.late, seen.held = true, time.Since(death.At)
	return &seen
}

// sceneOf is one of which nothing was seen yet.
func (l *look) sceneOf(death *tracer.Death) *scene {
	return &scene{death: death, self: l, stacks: map[int][]unwind.Frame{}, files: openFiles{unreadable: true}}
}

// glance is what takes no time, where memory and CPU are not short.
func (s *scene) glance() {
	fs := s.self.target.FS()
	s.memory = s.self.group().ReadMemory()
	s.name = s.readName()
	s.numbers = numbersOf(textOf(fs.Path(s.death.PID, "status")))
}

func (s *scene) readName() string {
	return strings.TrimSpace(textOf(s.self.target.FS().Path(s.death.PID, "task", strconv.Itoa(s.death.Thread), "comm")))
}

// look is all the rest.
func (s *scene) look(t *target.Target) {
	s.stacks = map[int][]unwind.Frame{}
	if !s.death.Unseen {
		s.unwind(t)
	}
	s.isModule = slices.Contains(t.FS().Cmdline(s.death.PID), "-m")
	if s.death.Code == rustPanicked {
		s.isRust = t.FS().HoldsText(s.death.PID, "RUST_BACKTRACE", s.hasTime)
	}
	s.readThreads(t.FS())
	if s.hasTime() {
		s.files = filesOf(t.FS(), s.death.PID)
	}
	s.held = time.Since(s.death.At)
}

// unwind walks the stack of the thread that died, then those of the others while there is time.
func (s *scene) unwind(t *target.Target) {
	walker, err := unwind.Open(t, s.death.PID)
	if err != nil {
		return
	}
	defer walker.Close()
	// What the target wrote into its program may be anything; a mistake of ours about it must not cost the rest.
	defer func() { _ = recover() }()
	s.maps = walker.Maps
	walker.Until = s.death.At.Add(first)
	// The first is the one that counts: to name the others may take too long.
	stacks := s.walk(walker, s.hasTime, func(first []unwind.Frame) { walker.Name(first) })
	s.scripts = s.self.python.scripts(s.death.PID, walker, time.Now().Add(scriptsAtMost))
	if s.hasTime() {
		walker.Name(stacks...)
	}
	if each, found := unwind.At(s.maps, s.pc()); found && strings.HasPrefix(each.Path, "/") && strings.Contains(each.May, "x") {
		s.code = walker.Read(s.pc(), instruction)
	}
}

// walk walks the stacks of the threads that are held, while there is time. It calls name with that of the thread that counts, before the others.
func (s *scene) walk(walker *unwind.Walker, hasTime func() bool, name func(first []unwind.Frame)) [][]unwind.Frame {
	order := s.heldInOrder()
	var stacks [][]unwind.Frame
	for index, tid := range order[:min(len(order), maxStacks)] {
		if index > 0 && !hasTime() {
			break
		}
		frames := walker.Walk(s.death.Held[tid], maxFrames)
		s.stacks[tid] = frames
		if stacks = append(stacks, frames); index == 0 {
			name(frames)
		}
	}
	return stacks
}

func (s *scene) pc() uint64 { return s.death.Held[s.death.Thread].PC }

func (s *scene) sp() uint64 { return s.death.Held[s.death.Thread].Numbered[unwind.SP] }

func (s *scene) heldInOrder() []int {
	var order []int
	for tid := range s.death.Held {
		order = append(order, tid)
	}
	slices.SortFunc(order, func(a, b int) int {
		switch s.death.Thread {
		case a:
			return -1
		case b:
			return 1
		}
		return cmp.Compare(a, b)
	})
	return order
}

// frames are those of the thread that died.
func (s *scene) frames() []unwind.Frame { return s.stacks[s.death.Thread] }

func (s *scene) readThreads(fs target.FS) {
	for _, tid := range fs.Threads(s.death.PID) {
		if len(s.threads) == maxThreads || !s.hasTime() {
			return
		}
		folder := func(name string) string { return fs.Path(s.death.PID, "task", strconv.Itoa(tid), name) }
		line := threadLine{id: tid, name: strings.TrimSpace(textOf(folder("comm"))), call: tracer.CallOf(fs, s.death.PID, tid)}
		if status, err := fs.Status(fmt.Sprintf("%d/task/%d", s.death.PID, tid)); err == nil {
			line.state = string(status.State)
		}
		if frames := s.stacks[tid]; len(frames) > 0 {
			line.top = nameOf(tellingFrame(frames))
		}
		if script, found := s.scripts.tellingOf(tid); found {
			line.top = nameOf(script)
		}
		s.threads = append(s.threads, line)
	}
}

func textOf(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// numbersOf are the lines of a status that count memory, in bytes, and the number of threads.
func numbersOf(status string) map[string]int64 {
	numbers := map[string]int64{}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		digits, isSize := strings.CutSuffix(strings.TrimSpace(value), " kB")
		if number, err := strconv.ParseInt(digits, 10, 64); err == nil {
			if isSize {
				number <<= 10
			}
			numbers[name] = number
		}
	}
	return numbers
}
