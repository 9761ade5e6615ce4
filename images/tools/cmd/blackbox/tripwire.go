package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/cgroup"
)

// tripwire asks whether a condition holds, and looks at the living target when one does.
type tripwire struct {
	look    *look
	wires   []*wire
	samples *samples
	left    int
}

// wire is one condition with what measures it.
type wire struct {
	condition
	gauge gauge
	next  time.Time
	// held is how many times in a row it held.
	held int
	// isUrgent is whether memory will be full so soon that the process may end before the look at it does.
	isUrgent bool
	// known is when it was measured last, in nanoseconds since 1970; 0: never. Who ends the watch asks for it.
	known atomic.Int64
}

const (
	// inARow is how many times in a row a condition must hold.
	inARow = 2
	// apart is the least time between two looks.
	apart = 10 * time.Second
	// soonest is the shortest time between two readings before a condition holds.
	soonest = 10 * time.Millisecond
	// hurry is how soon memory may be full for the second reading to come at once: on a busy machine it comes tens of milliseconds late, and so do the stacks.
	hurry  = 500 * time.Millisecond
	atOnce = time.Millisecond
)

// setTripwires opens what the conditions need; nil without one that can be watched.
func (l *look) setTripwires() *tripwire {
	if len(l.settings.when) == 0 {
		return nil
	}
	memory := l.memoryGauge()
	set := &tripwire{look: l, samples: newSamples(l.target.FS(), l.target.PID, memory), left: l.settings.shots}
	for _, each := range l.settings.when {
		if measures := l.gaugeOf(each, memory); measures != nil {
			set.wires = append(set.wires, &wire{condition: each, gauge: measures})
		}
	}
	if len(set.wires) == 0 {
		return nil
	}
	return set
}

// memoryGauge is the one of the target's container; nil where its cgroup is not readable.
func (l *look) memoryGauge() *memoryGauge {
	group := cgroup.Of(l.target).Gauge()
	if group == nil {
		return nil
	}
	opened := &memoryGauge{group: group}
	if fs := l.target.FS(); fs.IsBeside(l.target.First, os.Getpid()) {
		opened.own = cgroup.At("/sys/fs/cgroup").Gauge()
	}
	return opened
}

// gaugeOf is what measures a condition; nil, said in a line and kept as a gap, for one that cannot be measured here.
func (l *look) gaugeOf(each condition, memory *memoryGauge) gauge {
	fs, pid := l.target.FS(), l.target.PID
	switch each.kind {
	case ofMemory:
		switch {
		case memory == nil:
			return l.cannotWatch(each, "the container's cgroup is not readable")
		case each.isShare && memory.group.Limit() <= 0:
			return l.cannotWatch(each, "the container has no limit of memory; an amount works, as memory>500MiB")
		}
		return &memoryGauge{group: memory.group, own: memory.own, isShare: each.isShare, most: each.most}
	case ofFiles:
		return &filesGauge{folder: fs.Path(pid, "fd"), limits: openProc(fs, pid, "limits"), isShare: each.isShare}
	case ofThreads:
		return &threadsGauge{status: openProc(fs, pid, "status")}
	case ofQueue:
		return &queueGauge{}
	case ofPort:
		return &portGauge{port: each.port}
	}
	return &silenceGauge{io: openProc(fs, pid, "io")}
}

func (l *look) cannotWatch(each condition, why string) gauge {
	l.unset = append(l.unset, gap{each.text, why})
	say(l.out, "%s cannot be watched: %s.", each.text, why)
	return nil
}

// words are the conditions, as they were set.
func (t *tripwire) words() string {
	var words []string
	for _, each := range t.wires {
		words = append(words, each.text)
	}
	return strings.Join(words, " or ")
}

func timesOf(count int) string {
	if count == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times at most", count)
}

// run asks until all looks are taken; the watch for the death goes on beside it, also where a mistake of ours about what the target wrote ends this.
func (t *tripwire) run() {
	defer func() {
		if wrong := recover(); wrong != nil {
			say(t.look.out, "The conditions are watched no more: %v.", wrong)
		}
	}()
	runtime.LockOSThread()
	for t.left > 0 {
		now := time.Now()
		for _, each := range t.wires {
			if t.left > 0 && !now.Before(each.next) && each.holds(now) {
				t.left--
				t.look.shoot(each, t.samples)
				t.rest(time.Now().Add(apart))
				break
			}
		}
		t.samples.take(now)
		sleep(time.Until(t.next()))
	}
}

// sleep waits in the kernel: Go's own clock wakes several threads each time, which costs half as much again.
func sleep(length time.Duration) {
	if length > 0 {
		span := unix.NsecToTimespec(int64(length))
		_ = unix.Nanosleep(&span, nil)
	}
}

// rest lets all conditions wait: a second look at once would show the same.
func (t *tripwire) rest(until time.Time) {
	for _, each := range t.wires {
		each.next, each.held = until, 0
	}
}

func (t *tripwire) next() time.Time {
	next := t.samples.next
	for _, each := range t.wires {
		if each.next.Before(next) {
			next = each.next
		}
	}
	return next
}

// holds asks once, and says whether it held so often that it counts.
func (w *wire) holds(now time.Time) bool {
	value, known := w.gauge.read(now)
	every, confirm := w.every()
	if known {
		w.known.Store(now.UnixNano())
	}
	if memory, is := w.gauge.(*memoryGauge); is {
		every = max(min(every, memory.soon()), soonest)
		if w.isUrgent = memory.full() < hurry; w.isUrgent {
			confirm = atOnce
		}
	}
	if !known || value <= w.most {
		w.held = 0
		w.next = now.Add(every)
		return false
	}
	w.held++
	w.next = now.Add(confirm)
	return w.held >= inARow
}
