package main

import (
	"fmt"
	"math"
	"time"

	"kdebug/tools/internal/cgroup"
)

// memoryGauge is the memory of the container, with that of this watch: where the container is alone in its pod, both share its limit. The kernel frees the
// cache of files before it kills, so what is easily freed does not count.
type memoryGauge struct {
	group, own *cgroup.Gauge
	// assumed is the limit of a group that has none of its own; 0 for none.
	assumed            int64
	isShare            bool
	most               float64
	used, ours, limit  int64
	usedBefore, growth float64
	at, asked          time.Time
}

// near is the share of a threshold from which on everything is read each time.
const near = 0.8

func (g *memoryGauge) read(now time.Time) (float64, bool) {
	used := g.group.Used()
	if used < 0 {
		return 0, false
	}
	g.used = used
	if now.Sub(g.asked) >= time.Second || g.usedBefore > near*g.most {
		// What changes rarely is read rarely.
		g.asked, g.limit, g.ours = now, g.group.Limit(), 0
		if g.limit <= 0 {
			g.limit = g.assumed
		}
		if g.own != nil {
			g.ours = max(0, g.own.Used())
		}
	}
	// To read the cache costs more: only where it matters.
	if value, known := g.value(); known && value > g.most {
		g.used -= g.group.Inactive()
		if g.own != nil {
			g.ours -= g.own.Inactive()
		}
	}
	value, known := g.value()
	if known {
		g.note(now, value)
	}
	return value, known
}

// value is the use in the unit of the condition.
func (g *memoryGauge) value() (float64, bool) {
	sum := float64(g.used + g.ours)
	if !g.isShare {
		return sum, true
	}
	return 100 * sum / float64(g.limit), g.limit > 0
}

// note remembers how fast it grows. What grows in steps stands still between two readings that are close, so growth is forgotten by halves.
func (g *memoryGauge) note(now time.Time, value float64) {
	if passed := now.Sub(g.at).Seconds(); !g.at.IsZero() && passed > 0 {
		g.growth = max((value-g.usedBefore)/passed, g.growth/2, 0)
	}
	g.at, g.usedBefore = now, value
}

// soon is how long until the condition may hold at this growth: half of that time, so that it is seen before.
func (g *memoryGauge) soon() time.Duration { return g.until(g.most) / 2 }

// full is how long until the limit is reached.
func (g *memoryGauge) full() time.Duration {
	switch {
	case g.limit <= 0:
		return time.Hour
	case g.isShare:
		return g.until(100)
	}
	return g.until(float64(g.limit))
}

// until is how long until a value is reached at this growth, an hour at most; 0 where it is.
func (g *memoryGauge) until(value float64) time.Duration {
	left := max(value-g.usedBefore, 0)
	return time.Duration(math.Min(left/max(g.growth, math.SmallestNonzeroFloat64), 3600) * float64(time.Second))
}

func (g *memoryGauge) words() string {
	words := size(g.used + g.ours)
	if g.limit > 0 {
		words = fmt.Sprintf("%.0f of %s", float64(g.used+g.ours)/(1<<20), size(g.limit))
	}
	if g.ours > 0 {
		words += fmt.Sprintf(", %s of it this watch", size(g.ours))
	}
	return words
}
