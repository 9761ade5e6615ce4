package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/report"
	limits "kdebug/tools/internal/run"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/tracer"
)

// run waits, and gives the exit code: 0 if it could look, whatever it found.
func run(ctx context.Context, out io.Writer) int {
	began := time.Now()
	result := limits.Begin("blackbox", version)
	settings, err := readSettings(os.Getenv)
	if err != nil {
		return giveUp(out, result, "Could not look: "+err.Error()+".", 1)
	}
	found, why, code := limits.Find(result, section)
	if found == nil {
		return giveUp(out, result, why, code)
	}
	found = ownProcess(found.Become())
	if settings.pid != 0 {
		if found = chosen(found, settings.pid); found == nil {
			return giveUp(out, result, fmt.Sprintf("Could not look: process %d is none of the container's.", settings.pid), 1)
		}
	}
	result.Target = aboutTarget(found)
	look := &look{target: found, self: target.Whoami(), settings: settings, result: result, out: out, began: began}
	return look.watch(ctx)
}

func aboutTarget(found *target.Target) *report.Target {
	scope := found.Yama
	return &report.Target{
		Effective: true, PID: found.PID, UID: report.ID(found.UID), GID: report.ID(found.GID), Name: found.Name,
		Capabilities: target.Capabilities(found.Permitted), Runtime: string(found.Runtime), PtraceScope: &scope,
	}
}

// ownProcess is the target with the process that matters most of those that the container started itself: one that was brought in from outside, as the
// command of a probe, ends soon, and its end is no death. Those have no parent in the container's own process namespace.
func ownProcess(found *target.Target) *target.Target {
	for _, each := range found.Processes {
		if each.Parent != 0 || each.PID == found.First {
			return found.With(each)
		}
	}
	return found
}

// chosen is the target with that process as the one that matters; nil where the container has none of that number.
func chosen(found *target.Target, pid int) *target.Target {
	for _, each := range found.Processes {
		if each.PID == pid {
			return found.With(each)
		}
	}
	return nil
}

// look is one wait.
type look struct {
	target   *target.Target
	self     target.Self
	settings settings
	result   *report.Report
	out      io.Writer
	began    time.Time
	// isParent is whether the target is our own child, in our own container.
	isParent bool
	tracer   *tracer.Watch
	before   baseline
	crowd    crowd
	// python is where the functions of a script are read; nil for another program.
	python *interpreter
	// told is set by whoever tells the result: the death, the end of the time, or a signal to us.
	told    atomic.Bool
	reserve *reserve
	// shots are what was seen of the living target. Who holds shooting may change them; closed is whether none is written any more.
	shots    []*shot
	shooting sync.Mutex
	closed   atomic.Bool
	// wires are the conditions that are measured, and unset those that cannot be.
	wires *tripwire
	unset []gap
	// quiet is the end of the target that was no death, where the watch went on at the container's first process.
	quiet atomic.Pointer[quietEnd]
}

// quietEnd is when a process ended with code 0.
type quietEnd struct{ at time.Time }

// watched are the processes whose end matters: the chosen one, and the container's first.
func (l *look) watched() []int {
	if l.settings.pid != 0 || l.target.First == l.target.PID {
		return []int{l.target.PID}
	}
	return []int{l.target.PID, l.target.First}
}

func (l *look) watch(ctx context.Context) int {
	if lack := room(l.target); lack != nil {
		return l.tooTight(lack)
	}
	var err error
	if l.tracer, err = tracer.Seize(l.target.FS(), l.watched()...); err != nil {
		return l.refused(err)
	}
	l.before = l.readBaseline()
	say(l.out, "%s", limits.Heading("blackbox", l.began))
	say(l.out, "Watching %s, %s, until %s.", l.process(), report.Counted(l.tracer.Threads(), "thread"), l.began.Add(l.settings.length).UTC().Format("15:04:05 UTC"))
	l.python = findPython(l.target)
	l.wires = l.setTripwires()
	if l.wires == nil && len(l.unset) > 0 {
		return l.nothingToMeasure()
	}
	if wires := l.wires; wires != nil {
		say(l.out, "It looks at the living process %s when %s.", timesOf(l.settings.shots), wires.words())
	}
	l.reserve = setAside()
	l.tracer.OnKill(l.reserve.relieve)
	go l.guard(ctx)
	go l.keepCrowd(l.target.FS(), l.target.First)
	if l.wires != nil {
		go l.wires.run()
	}
	for {
		death, err := l.tracer.Wait()
		if err != nil {
			return l.lost(err)
		}
		if l.isQuiet(death) {
			death.LetGo()
			l.noteQuiet(death)
			continue
		}
		// Whatever happens from here on: nobody waits longer for us.
		time.AfterFunc(time.Until(death.At.Add(longest)), func() { os.Exit(0) })
		l.claim()
		return l.tell(l.fullest(death))
	}
}

// fullest is the death to tell where the kernel killed both watched processes for memory: that of the one that had more. It reads nothing: there may be no
// memory for it.
func (l *look) fullest(death *tracer.Death) *tracer.Death {
	if death.Signal != unix.SIGKILL || death.Told != nil {
		return death
	}
	seen := l.sceneOf(death)
	largest, at := seen.largest()
	if largest.pid == death.PID || !at.isNearlyFull() || !slices.Contains(l.watched(), largest.pid) {
		return death
	}
	if other := l.tracer.Also(largest.pid); other != nil && other.Signal == unix.SIGKILL {
		other.At = death.At
		return other
	}
	return death
}

// isQuiet is the end of a process that is not the container's first and went well.
func (l *look) isQuiet(death *tracer.Death) bool {
	return death.PID != l.target.First && l.settings.pid == 0 && death.Signal == 0 && death.Code == 0
}

func (l *look) noteQuiet(death *tracer.Death) {
	if death.PID == l.target.PID {
		l.quiet.Store(&quietEnd{death.At})
		say(l.out, "%s ended with exit code 0, %s after the watch began. The watch goes on at %s.",
			capital(l.process()), lengthOf(death.At.Sub(l.began)), l.processOf(l.target.First))
	}
}

// claim takes the right to tell the result; who comes second stays here until the process ends.
func (l *look) claim() {
	if !l.told.CompareAndSwap(false, true) {
		select {}
	}
}

// longest is how long a dying process is held at most.
const longest = 950 * time.Millisecond

// tell writes all about a death.
func (l *look) tell(death *tracer.Death) int {
	l.reserve.release()
	scene := l.see(death)
	l.settle(death.At.Add(latest))
	l.report(scene)
	if err := l.write(scene); err != nil {
		return 1
	}
	return 0
}
