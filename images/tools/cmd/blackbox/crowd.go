package main

import (
	"cmp"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/target"
)

// crowd is all processes of the container, looked at each second: where the kernel kills all of them at once, who had the memory is gone with the others.
type crowd struct {
	mutex sync.Mutex
	// glances are the last ones, the newest last.
	glances []glance
}

// glance is one look at all of them.
type glance struct {
	at      time.Time
	memory  cgroup.Memory
	members []member
}

// isNearlyFull is whether less than a third of the container's limit was left: its pod may have been full.
func (g glance) isNearlyFull() bool {
	free, limited := g.memory.Free()
	return limited && free < g.memory.Limit.Value/3
}

// member is a process, with what it has in memory.
type member struct {
	pid  int
	name string
	size int64
}

const (
	// mostMembers bounds who is looked at.
	mostMembers = 256
	glancesKept = 10
	glanceEvery = time.Second
	// glanceSoon is for a container that may be full within a second.
	glanceSoon = 100 * time.Millisecond
	// beforeIt is how long before a death its cause was surely not yet.
	beforeIt = 1500 * time.Millisecond
	// follows is how soon a parent ends whose child was killed.
	follows = 9 * time.Second
)

// keepCrowd looks at all of the container that a process is in, until the result is told.
func (l *look) keepCrowd(fs target.FS, pid int) {
	// Go's own clock wakes several threads each time: see sleep.
	runtime.LockOSThread()
	group := l.group()
	place, known := fs.Cgroup(pid), map[int]bool{}
	for !l.told.Load() {
		now := glance{at: time.Now(), memory: group.ReadMemory()}
		if place != "" {
			now.members, known = membersOf(fs, place, known)
		}
		sleep(l.crowd.add(now))
	}
}

// add keeps a glance and says how long to wait for the next.
func (c *crowd) add(now glance) time.Duration {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	grown := int64(0)
	if len(c.glances) > 0 {
		last := c.glances[len(c.glances)-1]
		grown = (now.memory.Used.Value - last.memory.Used.Value) * int64(glanceEvery) / max(int64(now.at.Sub(last.at)), 1)
		if now.at.Sub(last.at) < glanceEvery/2 && len(c.glances) > 1 {
			// The ones in a hurry stand for one another.
			c.glances = c.glances[:len(c.glances)-1]
		}
	}
	c.glances = append(c.glances[max(0, len(c.glances)+1-glancesKept):], now)
	if free, limited := now.memory.Free(); limited && grown > free/2 {
		return glanceSoon
	}
	return glanceEvery
}

// before is the newest glance of at least so long before a moment, else the oldest; false where the first one came later.
func (c *crowd) before(at time.Time, length time.Duration) (glance, bool) {
	return c.newest(func(each glance) bool { return at.Sub(each.at) >= length })
}

// fullest is the glance in which the container had most, of those that a kill may have been behind: the newest may be of while the kernel took all back.
// Empty where there was none.
func (c *crowd) fullest(at time.Time) (best glance) {
	oldest, _ := c.before(at, beforeIt)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, each := range c.glances {
		if !each.at.Before(oldest.at) && !each.at.After(at) && each.total() >= best.total() {
			best = each
		}
	}
	return best
}

// total is what all processes have; the container's own count where they are not visible.
func (g glance) total() int64 {
	if len(g.members) == 0 {
		return g.memory.Used.Value
	}
	sum := int64(0)
	for _, each := range g.members {
		sum += each.size
	}
	return sum
}

func (c *crowd) newest(is func(glance) bool) (glance, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, each := range slices.Backward(c.glances) {
		if is(each) {
			return each, true
		}
	}
	if len(c.glances) == glancesKept {
		return c.glances[0], true
	}
	return glance{}, false
}

// membersOf are the processes of a cgroup but for ourselves, the largest first. What is known of a process is asked once.
func membersOf(fs target.FS, place string, known map[int]bool) (members []member, still map[int]bool) {
	still = map[int]bool{}
	for _, pid := range fs.PIDs() {
		isOurs, seen := known[pid]
		if !seen {
			inner := fs.Cgroup(pid)
			isOurs = pid != os.Getpid() && (inner == place || strings.HasPrefix(inner, place+"/"))
		}
		if still[pid] = isOurs; !isOurs || len(members) == mostMembers {
			continue
		}
		if each, found := memberOf(textOf(fs.Path(pid, "stat"))); found {
			members = append(members, each)
		}
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(b.size, a.size) })
	return members, still
}

// memberOf reads a process' stat, the one file that has its name and its size (proc(5)). False for one that has ended.
func memberOf(stat string) (member, bool) {
	const state, pages = 0, 21
	open, end := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return member{}, false
	}
	fields := strings.Fields(stat[end+1:])
	if len(fields) <= pages || strings.ContainsAny(fields[state], "ZX") {
		return member{}, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(stat[:open]))
	size, wrong := strconv.ParseInt(fields[pages], 10, 64)
	return member{pid, report.Line(stat[open+1:end], 20), size * int64(unix.Getpagesize())}, err == nil && wrong == nil
}
