package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"kdebug/tools/internal/begin"
	"kdebug/tools/internal/pid1"
	"kdebug/tools/internal/report"
	limits "kdebug/tools/internal/run"
	"kdebug/tools/internal/tracer"
)

// tell ends the run and writes all about it; it gives the exit code.
func (p *parent) tell(death *tracer.Death) int {
	if failure := p.failure(death); failure != nil {
		_ = p.end(death)
		return p.couldNotStart(failure)
	}
	if !p.told.CompareAndSwap(false, true) {
		_ = p.end(death)
		<-p.looked
		return p.tellOver()
	}
	p.reserve.release()
	p.settle(death.At.Add(latest))
	p.refresh()
	scene := p.see(death)
	code := p.end(death)
	p.report(scene)
	p.sayWhere()
	p.result.Target = aboutTarget(p.target)
	p.sayUntraced()
	p.write(scene.text())
	return code
}

// failure is why the program never ran; nil where it did.
func (p *parent) failure(death *tracer.Death) *begin.Failure {
	if p.tracer != nil && p.tracer.HasStarted() {
		return nil
	}
	failure := p.child.Failure()
	// Without a watch nobody knows whether it had begun.
	switch {
	case failure != nil || p.untraced != "":
		return failure
	case death.Signal == 0:
		return &begin.Failure{Code: refused, Words: fmt.Sprintf("what was to become it ended with exit code %d", death.Code)}
	}
	return &begin.Failure{Code: exitSignals + int(death.Signal), Words: "it was ended by " + signalName(death.Signal) + " before it began"}
}

// lookOver looks at the program whose time is over, unless that takes too long.
func (p *parent) lookOver() {
	seen := make(chan *shot, 1)
	go func() { seen <- p.glanceOver() }()
	select {
	case p.over = <-seen:
	case <-time.After(looksAtMost):
	}
}

// looksAtMost is how much longer than its time a program runs because we look at it.
const looksAtMost = 2 * time.Second

func (p *parent) glanceOver() *shot {
	p.refresh()
	taken := &shot{scene: p.sceneOf(momentOf(p.child.PID))}
	if p.tracer != nil {
		taken.readStacks(p.look, busiest(p.target.FS(), p.child.PID), false)
	}
	taken.readLiving()
	return taken
}

// tellOver reports a program whose time was over, and gives the exit code for that; whoever comes second waits.
func (p *parent) tellOver() int {
	p.telling.Do(p.writeOver)
	return exitOver
}

func (p *parent) writeOver() {
	length := secondsOf(p.order.length)
	where, lines := "", []string(nil)
	if p.over != nil {
		where = p.over.where("; it was in ")
		lines = append(p.over.stackLines(p.over.death.Thread, maxFrames), p.over.memoryLines()...)
	}
	p.result.Verdict = fmt.Sprintf("%s was still running after %s and was ended%s.", capital(p.process()), length, where)
	p.result.Sections = []report.Section{{Name: section, State: report.OK, Text: "no death within " + length}}
	p.result.Target = aboutTarget(p.target)
	p.sayUntraced()
	var text strings.Builder
	say(&text, "%s", p.result.Verdict)
	for _, line := range lines {
		say(&text, "%s", line)
	}
	p.write(text.String())
}

// inLog replaces the files that only a watch beside a container writes.
var inLog = strings.NewReplacer("death.txt has", "the log has", "in stacks.folded", "in the log")

// sayWhere says that the log has what the next step names.
func (p *parent) sayWhere() {
	for at := range p.result.Findings {
		p.result.Findings[at].Next = inLog.Replace(p.result.Findings[at].Next)
	}
}

// sayUntraced adds that the program was not watched, and why; or that the watch changed what it may do.
func (p *parent) sayUntraced() {
	if p.tracer != nil && p.tracer.LostRights() {
		p.result.Verdict += " It ran without the rights that its file gives (set-uid or capabilities), because it was traced."
		p.result.Unsure = true
	}
	if p.untraced == "" {
		return
	}
	p.result.Verdict += fmt.Sprintf(" It was not traced: %s.", p.untraced)
	part := &p.result.Sections[0]
	part.State, part.Lacks = report.NotReadable, p.lacks
}

// write writes the text, which begins with the verdict, behind what the program wrote; then the report, last of all.
func (p *parent) write(text string) {
	p.result.Cost = report.CostSince(p.began)
	pid1.Drained(os.Stdout, os.Stderr)
	verdict := report.Line(p.result.Verdict, 300)
	_, rest, _ := strings.Cut(text, "\n")
	fmt.Fprintf(p.out, "\n%s\n%s\n%s", limits.Heading("blackbox", time.Now()), verdict, rest)
	if short, err := p.result.Short(); err == nil {
		p.log.write(short)
	}
}

// secondsOf is "60 s" or "25 minutes".
func secondsOf(length time.Duration) string {
	if length < 2*time.Minute {
		return fmt.Sprintf("%.0f s", length.Seconds())
	}
	return spanOf(length)
}
