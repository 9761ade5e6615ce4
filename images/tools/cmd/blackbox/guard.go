package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/report"
	limits "kdebug/tools/internal/run"
	"kdebug/tools/internal/tracer"
)

const (
	// section is the one of the report.
	section = "death"
	// together is how long after us the target may be told to end, when the whole pod ends.
	together = time.Second
)

// guard ends the wait when its time is over, or when we are told to end while the pod goes on. The kernel lets go of the target with this process.
func (l *look) guard(ctx context.Context) {
	select {
	case <-time.After(time.Until(l.began.Add(l.settings.length))):
		l.claim()
		os.Exit(l.alive("The time is over: ", report.Section{State: report.OK}))
	case <-ctx.Done():
	}
	if l.isPodEnding() {
		// The target's end is near, and is what we are here for.
		say(l.out, "The pod ends; its process is still watched.")
		return
	}
	l.claim()
	// Anybody of the same user can do that, the target too: it is no good news.
	os.Exit(l.alive("Told to stop: ", report.Section{State: report.NotReadable, Lacks: "the rest of " + spanOf(l.settings.length)}))
}

// isPodEnding is whether the target, too, was told to end from outside, now.
func (l *look) isPodEnding() bool {
	for until := time.Now().Add(together); time.Now().Before(until); {
		if told := l.tracer.Told(); told != nil && told.Sender == 0 && time.Since(told.At) < 5*time.Second {
			return true
		}
		limits.Pause(context.Background(), 50*time.Millisecond)
	}
	return false
}

// alive reports that nothing happened, and what was not measured meanwhile.
func (l *look) alive(why string, part report.Section) int {
	now := time.Now()
	l.settle(now.Add(together))
	length := time.Since(l.began).Round(time.Second)
	gaps := l.gaps(now)
	words := l.neverHeld(gaps) + gapWords(gaps)
	verdict := fmt.Sprintf("%s%s%s is alive after %s of watching.%s", l.seenBefore(), why, l.survivor(), spanOf(length), words)
	part.Name, part.Text = section, "no death within "+spanOf(length)
	l.result.Sections = []report.Section{part}
	l.addGaps(gaps)
	return l.end(verdict, 0)
}

// survivor is the process that is alive, behind the target where that ended meanwhile.
func (l *look) survivor() string {
	quiet := l.quiet.Load()
	if quiet == nil {
		return l.process()
	}
	return fmt.Sprintf("%s ended with exit code 0 after %s, and %s", l.process(), lengthOf(quiet.at.Sub(l.began)), l.processOf(l.target.First))
}

// seenBefore are the words of the first look at the living target, for what comes behind; "" without one.
func (l *look) seenBefore() string {
	if len(l.shots) == 0 {
		return ""
	}
	return l.shots[0].verdict() + " "
}

// lost is an end that could not be held, or a watch that had to stop.
func (l *look) lost(err error) int {
	l.claim()
	l.settle(time.Now().Add(together))
	if errors.Is(err, tracer.ErrOften) {
		l.result.Sections = []report.Section{{Name: section, State: report.NotReadable, Text: "let go", Lacks: "a target with fewer signals"}}
		return l.end(fmt.Sprintf("%sCould not look: %s gets %s. It was let go.", l.seenBefore(), l.process(), err), 0)
	}
	l.result.Sections = []report.Section{{Name: section, State: report.NotReadable, Text: "not held", Lacks: "the moment of its end"}}
	return l.end(fmt.Sprintf("%sCould not look: %s ended and was not held.", l.seenBefore(), l.process()), 0)
}

// refused says why the kernel did not let us watch.
func (l *look) refused(err error) int {
	l.result.Sections = []report.Section{{Name: section, State: report.NotReadable, Text: "not watched", Lacks: report.Line(err.Error(), 200)}}
	part := &l.result.Sections[0]
	var taken *tracer.Taken
	switch lack := l.target.Attach(l.self); {
	case errors.As(err, &taken):
		part.Lacks = "a process without a tracer"
		return l.end(fmt.Sprintf("Could not look: %s cannot be watched, %s. A process has one tracer at a time.", l.process(), err), 0)
	case errors.Is(err, tracer.ErrGone):
		return l.end(fmt.Sprintf("Could not look: %s, %s.", l.process(), err), 0)
	case lack != nil:
		part.Lacks, part.Helps = lack.Lacks, lack.Helps
	case errors.Is(err, unix.EPERM):
		part.Lacks, part.Helps = "ptrace: refused by the kernel, the container's seccomp filter or a security module", []string{report.General}
	}
	return l.end(fmt.Sprintf("Could not look: the kernel does not let us trace %s. It lacks %s.", l.process(), part.Lacks), 0)
}
