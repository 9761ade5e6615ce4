package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"time"

	"kdebug/tools/internal/cgroup"
)

// limitVariable is the limit of memory that the program has in its own container, in bytes. An ephemeral container has none, and the pod's cannot be seen.
const limitVariable = "KDEBUG_MEMORY_LIMIT"

// marks are the shares of the limit at which the living program is looked at. Where the kernel kills all of a container together (memory.oom.group), we die
// with it and tell nothing; a leak may be too fast for the last one.
var marks = []float64{0.8, 0.92}

// sawWord begins each line about a living program in its log.
const sawWord = "kdebug blackbox saw: "

// watchMemory looks at the program before its memory is full, and writes that to the log at once.
func (p *parent) watchMemory() {
	limit, left := cgroup.Parse(os.Getenv(limitVariable)), marks
	gauge := p.group().Gauge()
	if !limit.Known || gauge == nil || p.tracer == nil {
		return
	}
	defer gauge.Close()
	// A mistake of ours about what the program wrote must not end it.
	defer func() { _ = recover() }()
	runtime.LockOSThread()
	for len(left) > 0 {
		memory := &memoryGauge{group: gauge, assumed: limit.Value, most: left[0] * float64(limit.Value)}
		passes := &wire{condition: condition{kind: ofMemory, most: memory.most}, gauge: memory}
		for !passes.holds(time.Now()) {
			if p.told.Load() {
				return
			}
			sleep(time.Until(passes.next))
		}
		for len(left) > 0 && memory.usedBefore > left[0]*float64(limit.Value) {
			left = left[1:]
		}
		p.takePicture(passes.isUrgent, memory.words())
	}
}

// takePicture says in the log where the program is. Its own end waits for it (settle).
func (p *parent) takePicture(isUrgent bool, memory string) {
	p.shooting.Lock()
	defer p.shooting.Unlock()
	self := &look{target: p.target, isParent: true, tracer: p.tracer}
	if !isUrgent {
		p.learned.read(p.child.PID)
	}
	if learned, python := p.learned.known(); learned != nil {
		self.target, self.python = learned, python
	}
	taken := &shot{into: time.Since(p.began), scene: self.sceneOf(momentOf(p.child.PID))}
	taken.readStacks(self, busiest(self.target.FS(), p.child.PID), isUrgent)
	if p.told.Load() || p.closed.Load() {
		return
	}
	var out bytes.Buffer
	fmt.Fprintln(&out)
	say(&out, "%smemory %s after %s: %s%s%s", sawWord, memory, lengthOf(taken.into), self.process(), taken.where(" was in "), p.largestWords())
	for _, line := range taken.stackLines(taken.death.Thread, shownFrames) {
		say(&out, "%s%s", sawWord, line)
	}
	_, _ = out.WriteTo(p.out)
}

// largestWords name another process of the container that has the most memory; "" where the program itself has.
func (p *parent) largestWords() string {
	place := p.target.FS().Cgroup(p.child.PID)
	if place == "" {
		return ""
	}
	members, _ := membersOf(p.target.FS(), place, map[int]bool{})
	if len(members) == 0 || members[0].pid == p.child.PID {
		return ""
	}
	return fmt.Sprintf("; the largest is %s, %s", nameOfMember(members[0]), size(members[0].size))
}
