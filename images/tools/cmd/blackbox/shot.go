package main

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/tracer"
	"kdebug/tools/internal/unwind"
)

// shot is what was seen of the living target when a condition held.
type shot struct {
	*scene
	number int
	// cause is "memory passed 92 % (59 of 64 MiB)", and into how long after the watch began it was.
	cause string
	into  time.Duration
	cpu   cgroup.CPU
	table []string
}

// holdAtMost is how long the threads of a living process are kept for their stacks; what is not walked by then is left out.
const holdAtMost = 100 * time.Millisecond

// shoot looks at the target and writes what it saw. The end of the watch waits for it (settle).
func (l *look) shoot(of *wire, samples *samples) {
	l.shooting.Lock()
	defer l.shooting.Unlock()
	// What it took, it gives back: the target may need it next.
	defer debug.FreeOSMemory()
	taken := l.take(of, samples)
	isLate := l.told.Load() && len(taken.stacks) == 0 && !l.settings.summary
	if isLate || l.closed.Load() {
		// The end came first, and is told with all stacks.
		return
	}
	l.shots = append(l.shots, taken)
	_ = l.writeShot(taken)
}

// settle waits until a look at the living target that has begun is written, or the time is over. No other begins then.
func (l *look) settle(until time.Time) {
	for !l.shooting.TryLock() {
		if time.Now().After(until) {
			l.closed.Store(true)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func (l *look) take(of *wire, samples *samples) *shot {
	living := l.living()
	stopping := busiest(l.target.FS(), living)
	moment := momentOf(living)
	now := moment.At
	// Each file that is opened may take so long where memory or CPU is short that a leak has reached its limit: the stacks come first.
	taken := &shot{number: len(l.shots) + 1, cause: of.words(of.gauge.words()), into: now.Sub(l.began), scene: l.sceneOf(moment)}
	if !l.settings.summary {
		taken.readStacks(l, stopping, of.isUrgent)
	}
	taken.readLiving()
	taken.files = filesOf(l.target.FS(), moment.PID)
	taken.cpu = cgroup.Of(l.target).ReadCPU()
	samples.next = now
	samples.take(now)
	taken.table = samples.lines(now)
	return taken
}

// momentOf is one of a process that lives.
func momentOf(pid int) *tracer.Death {
	return &tracer.Death{PID: pid, Thread: pid, At: time.Now(), Held: map[int]unwind.Registers{}, Call: tracer.Call{Number: tracer.NoCall}}
}

// readLiving reads what is to be read behind the stacks, and all of it where no thread was stopped.
func (s *shot) readLiving() {
	fs := s.self.target.FS()
	if s.numbers == nil {
		s.glance()
	}
	// A JVM may have told of another thread.
	s.name = s.readName()
	s.death.Call = tracer.CallOf(fs, s.death.PID, s.death.Thread)
	s.readThreads(fs)
}

// living is the first of the watched processes that is there; one that is alone is not looked for.
func (l *look) living() int {
	all := l.watched()
	for _, pid := range all[:len(all)-1] {
		if _, err := l.target.FS().Status(fmt.Sprint(pid)); err == nil {
			return pid
		}
	}
	return all[len(all)-1]
}

// readStacks walks the stacks while the threads are held, and names their functions once they run again; those of the thread that counts before, where
// the process may end meanwhile.
func (s *shot) readStacks(l *look, stopping []int, isUrgent bool) {
	// What the target wrote into its program may be anything; a mistake of ours about it must not cost the rest.
	defer func() { _ = recover() }()
	var walker *unwind.Walker
	var stacks [][]unwind.Frame
	var order []int
	s.held, _ = l.tracer.Look(s.death.PID, stopping, func(held map[int]unwind.Registers) {
		// This is the tracing thread: the mistake must not end the watch either.
		defer func() { _ = recover() }()
		until := time.Now().Add(holdAtMost)
		opened, err := unwind.Open(l.target, s.death.PID)
		if err != nil {
			return
		}
		walker, s.maps = opened, opened.Maps
		walker.Until = until
		s.death.Held = held
		order = inOrder(l.target.FS(), s.death.PID, held)
		s.scripts = l.python.scripts(s.death.PID, walker, walker.Until)
		s.death.Thread = s.scripts.first(order)
		stacks = s.walk(walker, func() bool { return time.Now().Before(walker.Until) }, func(first []unwind.Frame) {
			if isUrgent {
				walker.Name(first)
			}
		})
		s.glance()
	})
	if walker == nil {
		return
	}
	defer walker.Close()
	walker.Until = s.death.At.Add(first)
	walker.Name(stacks...)
	if l.target.Runtime == target.JVM && s.death.PID == l.target.PID && len(order) > 0 {
		s.scripts = l.javaScripts()
		s.death.Thread = s.scripts.first(order)
	}
}

const (
	// mostStopped threads are stopped for a look: each costs the target time, and maxStacks are shown.
	mostStopped = 256
	// choosing is how long it may take to choose among more.
	choosing = 300 * time.Millisecond
)

// busiest are the threads to stop, the first of the process and those that used most CPU; nil: all.
func busiest(fs target.FS, pid int) []int {
	var stat unix.Stat_t
	if unix.Stat(fs.Path(pid, "task"), &stat) == nil && stat.Nlink > 2 && stat.Nlink <= mostStopped {
		// The kernel counts the folders of the threads and two more. To list them takes longer.
		return nil
	}
	threads := fs.Threads(pid)
	if len(threads) <= mostStopped {
		return nil
	}
	used := map[int]int64{}
	for until, index := time.Now().Add(choosing), 0; index < len(threads) && time.Now().Before(until); index++ {
		used[threads[index]], _, _ = fs.Times(fmt.Sprintf("%d/task/%d", pid, threads[index]))
	}
	slices.SortStableFunc(threads, func(a, b int) int {
		return cmp.Or(cmp.Compare(used[b], used[a]), cmp.Compare(a, b))
	})
	return append([]int{pid}, slices.DeleteFunc(threads, func(tid int) bool { return tid == pid })[:mostStopped-1]...)
}

// inOrder are the threads in the order in which they matter: one that computes before one that waits in the kernel, then the one that used most CPU.
func inOrder(fs target.FS, pid int, held map[int]unwind.Registers) []int {
	type candidate struct {
		id, working int
		used        int64
	}
	var all []candidate
	for id := range held {
		each := candidate{id: id}
		each.used, _, _ = fs.Times(fmt.Sprintf("%d/task/%d", pid, id))
		if len(held) <= maxStacks && tracer.CallOf(fs, pid, id).Number == tracer.NoCall {
			each.working = 1
		}
		all = append(all, each)
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(b.working-a.working, cmp.Compare(b.used, a.used), cmp.Compare(a.id, b.id))
	})
	order := make([]int, len(all))
	for index, each := range all {
		order[index] = each.id
	}
	return order
}

// verdict is one sentence: what passed, and where the process was.
func (s *shot) verdict() string {
	words := fmt.Sprintf("%s %s after the watch began", capital(s.cause), lengthOf(s.into))
	if len(s.frames()) > 0 {
		words += fmt.Sprintf("; %s was%s", s.self.processOf(s.death.PID), s.where(" in "))
	}
	return words + "."
}

// milliseconds is "0.4 ms" or "12 ms".
func milliseconds(length time.Duration) string {
	if length < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(length.Microseconds())/1000)
	}
	return fmt.Sprintf("%d ms", length.Milliseconds())
}

// lengthOf is "4 min 12 s".
func lengthOf(length time.Duration) string {
	seconds := int(length.Round(time.Second) / time.Second)
	switch {
	case seconds >= 3600:
		return fmt.Sprintf("%d h %d min", seconds/3600, seconds/60%60)
	case seconds >= 60:
		return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
	}
	return spanOf(length)
}

// addShots puts the looks at the living target into the report, behind what is there.
func (l *look) addShots() {
	if len(l.shots) == 0 {
		return
	}
	part := rules.NewPart("tripwire")
	for _, each := range l.shots {
		part.Find("tripwire", 0, "%s", strings.TrimSuffix(each.verdict(), "."))
		part.Section.Text = fmt.Sprintf("%d seen, the last held for %s", len(l.shots), milliseconds(each.held))
	}
	l.result.Findings = append(l.result.Findings, part.Findings...)
	l.result.Sections = append(l.result.Sections, part.Section)
}
