package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/begin"
	"kdebug/tools/internal/carry"
	"kdebug/tools/internal/pid1"
	"kdebug/tools/internal/report"
	limits "kdebug/tools/internal/run"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/tracer"
)

// parent runs a program as its child, watches it, and ends it when its time is over. It is the first process of a container.
type parent struct {
	*look
	order order
	child *begin.Child
	log   *last
	// signals are those that are meant for the program.
	signals <-chan os.Signal
	// untraced is why the program is not watched; "" where it is. Lacks is what would help.
	untraced, lacks string
	// isGone is whether the child had ended before it could be watched.
	isGone  bool
	learned learned
	// looked is closed when the time is over and the program was looked at; over is what was seen.
	looked chan struct{}
	over   *shot
	// telling is for what is told once, by whoever comes first.
	telling sync.Once
}

// onceMore is the whole second run; it gives the exit code.
func onceMore(words []string, out io.Writer, log *last) int {
	order, err := readOrder(words)
	if err != nil {
		return refuse(out, log, "Not started: "+err.Error()+".", refused)
	}
	if why := mayBeParent(); why != "" {
		return refuse(out, log, why, refused)
	}
	signals := pid1.Signals()
	staySmall()
	// The thread that seizes the program is the only one that may ask the kernel about it.
	runtime.LockOSThread()
	environment := begin.Environment()
	key := ""
	// What stays there can be read by the program, and the key with it.
	if pid1.RemoveProgram() {
		key = carry.Key()
	}
	pid1.Seal()
	run := &parent{order: order, log: log, signals: signals, looked: make(chan struct{})}
	run.look = &look{
		self: target.Whoami(), settings: settings{length: order.length}, result: limits.Begin("blackbox", version), out: out, began: time.Now(), isParent: true,
	}
	run.result.Key = key
	run.child, err = begin.Start(order.program, environment)
	if err != nil {
		return run.couldNotStart(&begin.Failure{Code: cannotFork, Words: err.Error()})
	}
	return run.live()
}

// cannotFork is the exit code where not even our child could be started.
const cannotFork = 126

func (p *parent) live() int {
	// Behind the start: the program must not get our limits, nor what we ignore.
	limits.Bound()
	pid1.Outlast()
	go pid1.PassOn(p.signals, p.child.PID)
	p.target = target.Child(p.child.PID, path.Base(p.order.program[0]))
	p.before = p.readBaseline()
	p.reserve = setAside()
	p.seize()
	p.began = time.Now()
	p.child.Open()
	go p.guardTime()
	go p.learn()
	go p.watchMemory()
	go p.keepCrowd(p.target.FS(), p.child.PID)
	return p.tell(p.wait())
}

// seize begins the watch. Where the kernel refuses, the program runs all the same.
func (p *parent) seize() {
	if path, err := begin.LookUp(p.order.program[0]); err == nil && tracer.GivesRights(path) {
		p.untraced, p.lacks = "its file gives it rights (set-uid or capabilities), which a traced program does not get", "SYS_PTRACE"
		return
	}
	var err error
	if p.tracer, err = tracer.SeizeStart(target.Proc, p.child.PID); err == nil {
		p.tracer.OnKill(p.reserve.relieve)
		return
	}
	p.tracer = nil
	if errors.Is(err, tracer.ErrGone) {
		// Somebody ended it before it began: that is told without a watch.
		p.isGone = true
		return
	}
	p.untraced, p.lacks = "the kernel does not let us: "+err.Error(), "ptrace: "+report.Line(err.Error(), 200)
	if found, failed := target.Of(p.child.PID); failed == nil {
		if lack := found.Attach(p.self); lack != nil {
			p.untraced, p.lacks = "it lacks "+lack.Lacks, lack.Lacks
		}
	}
}

// wait waits for the end of the program, which is held where it is watched.
func (p *parent) wait() *tracer.Death {
	if p.tracer != nil {
		death, err := p.tracer.Wait()
		if err == nil {
			return death
		}
		if errors.Is(err, tracer.ErrOften) {
			p.untraced, p.lacks = "it gets "+err.Error(), "a program with fewer signals"
			p.tracer.LetAllGo()
		}
	}
	ended := p.reap(tracer.Forever)
	return &tracer.Death{
		PID: p.child.PID, Thread: p.child.PID, At: time.Now(), Signal: ended.Signal, Code: ended.Code, Unseen: true, Call: tracer.Call{Number: tracer.NoCall},
	}
}

// reap takes the ends of all children until that of the program came.
func (p *parent) reap(patience time.Duration) tracer.Ended {
	for until := time.Now().Add(patience); ; {
		left := patience
		if left != tracer.Forever {
			left = max(0, time.Until(until))
		}
		ended, came := tracer.NextEnd(left)
		if !came || ended.PID == p.child.PID {
			return ended
		}
	}
}

const (
	// afterTerm is how long the program may take to end when its time is over.
	afterTerm = 3 * time.Second
	// afterKill is how long it may take to be gone then.
	afterKill = 2 * time.Second
	// dies is how long a program whose end was told may take to be gone: the kernel may write its memory to a file.
	dies = 30 * time.Second
	// othersDie is how long the rest may take.
	othersDie = 10 * time.Second
	exitOver  = 124
)

// end lets the dead program go, kills what is left in the container, and gives the exit code of the whole. Nobody lives behind it who could write.
func (p *parent) end(death *tracer.Death) int {
	status := tracer.Ended{Signal: death.Signal, Code: death.Code}
	death.LetGo()
	if !death.Unseen {
		if ended := p.reap(dies); ended.PID != 0 {
			status = ended
		}
	}
	pid1.EndOthers(func() {
		for came := true; came; {
			_, came = tracer.NextEnd(10 * time.Millisecond)
		}
	}, othersDie)
	p.log.clear()
	if status.Signal != 0 {
		return exitSignals + int(status.Signal)
	}
	return status.Code
}

// guardTime ends the program when its time is over.
func (p *parent) guardTime() {
	time.Sleep(time.Until(p.began.Add(p.order.length)))
	if !p.told.CompareAndSwap(false, true) {
		return
	}
	p.lookOver()
	close(p.looked)
	_ = unix.Kill(p.child.PID, unix.SIGTERM)
	time.Sleep(afterTerm)
	pid1.KillOthers()
	// Without CAP_KILL nobody of another user hears us; but the kernel kills all when the first process of a container ends.
	time.Sleep(afterKill)
	os.Exit(p.tellOver())
}

// couldNotStart reports a program that never ran.
func (p *parent) couldNotStart(failure *begin.Failure) int {
	p.result.Verdict = fmt.Sprintf("Could not start: %s.", report.Line(failure.Words, 250))
	p.result.Sections = []report.Section{{Name: section, State: report.NotLookedAt, Text: "the program did not start"}}
	p.write(p.result.Verdict + "\n")
	return failure.Code
}
