package stack

import (
	"cmp"
	"regexp"
	"sort"
	"strings"
	"time"

	"kdebug/tools/internal/thread"
)

// Pool is threads of one name, nearly all of which wait at the same place.
type Pool struct {
	// Name is what all have in common in theirs, as "http-nio-8080-exec".
	Name string
	// Total is how many threads of that name there are, and Waiting those at the place.
	Total   int
	Waiting []Thread
	// Own is their frame of the program's own code; "" where no frames are known, and the peer is what they have in common.
	Own string
	// Peer is what they read from, where it is one for all, and Waited how long nothing came from there, of the one that waits least.
	Peer   string
	Waited time.Duration
	// Other is a thread of the pool that is elsewhere in the program's own code, and waits too; nil if there is none.
	Other *Thread
}

const (
	// minPool is from how many threads on a pool counts, and minPart which part of it waits.
	minPool = 5
	minPart = 0.8
)

// Pools are those in which at least five threads and four fifths of all wait at the same place of the program's own code, and used no CPU
// meanwhile. Idle workers do not count; nor does a thread that answers one request after the other.
func Pools(threads []Thread) []Pool {
	byName := map[string][]Thread{}
	for _, each := range threads {
		// Of goroutines, most are a library's: only the program's own are like the threads of a pool.
		if each.ID == 0 && (each.Own == "" || each.Idle) {
			continue
		}
		name := poolName(each.Name)
		byName[name] = append(byName[name], each)
	}
	var pools []Pool
	for name, members := range byName {
		if pool, waits := poolOf(name, members); waits {
			pools = append(pools, pool)
		}
	}
	sort.Slice(pools, func(a, b int) bool {
		if len(pools[a].Waiting) != len(pools[b].Waiting) {
			return len(pools[a].Waiting) > len(pools[b].Waiting)
		}
		return pools[a].Name < pools[b].Name
	})
	return pools
}

func poolOf(name string, members []Thread) (Pool, bool) {
	places := map[string][]Thread{}
	var best string
	for _, each := range members {
		// Of one function, whichever line: who waits for each other's locks is at two.
		if place := functionOf(placeOf(each)); place != "" {
			places[place] = append(places[place], each)
			if len(places[place]) > len(places[best]) || len(places[place]) == len(places[best]) && place < best {
				best = place
			}
		}
	}
	waiting := places[best]
	if len(waiting) < minPool || float64(len(waiting)) < minPart*float64(len(members)) {
		return Pool{}, false
	}
	pool := Pool{Name: sharedName(name, members), Total: len(members), Waiting: waiting, Own: waiting[0].Own, Peer: waiting[0].Kernel.Peer, Waited: waiting[0].Kernel.Waited}
	for _, each := range waiting {
		if each.Kernel.Peer != pool.Peer {
			pool.Peer = ""
		}
		pool.Waited = min(pool.Waited, each.Kernel.Waited)
	}
	for index, each := range members {
		if each.Own != "" && functionOf(each.Own) != functionOf(pool.Own) && placeOf(each) != "" {
			pool.Other = &members[index]
		}
	}
	return pool, true
}

// placeOf is where a thread waits: its own frame, else its peer; "" for one that does not wait for something that should come.
func placeOf(t Thread) string {
	switch Classify(t) {
	case thread.Queue, thread.OnCPU, thread.Ready:
		return ""
	case thread.Timer, thread.Other:
		// What it waits for is not known: a worker between two turns, unless it has a request in its hands.
		if !t.Serves {
			return ""
		}
	}
	// Of goroutines and virtual threads the peer is not known, so one that waits for news looks like one that waits for an answer.
	if !t.Waits() || t.ID == 0 && !t.Serves {
		return ""
	}
	if t.Own != "" {
		return t.Own
	}
	return t.Kernel.Peer
}

// Waits is whether it has waited for a second or longer, as far as is known.
func (t Thread) Waits() bool {
	if t.ID == 0 {
		return t.Minutes > 0 || t.Kernel.Waited >= time.Second
	}
	return t.Kernel.Class != "" && (t.Kernel.Still() || t.Kernel.Waited >= time.Second)
}

// functionOf is a frame without its line; a peer stays as it is.
func functionOf(frame string) string { return lineAtEnd.ReplaceAllString(frame, "$1") }

var (
	// "Thread-12 (handle)" of Python has its number in the middle.
	numberInside = regexp.MustCompile(`[-_ #]*\d+ \(`)
	numberAtEnd  = regexp.MustCompile(`[-_ #]*\d+$`)
	// "transfer (worker.py:9)" or "main.cached (main.go:13)"; of a peer the port stays.
	lineAtEnd = regexp.MustCompile(`:\d+(\))$`)
)

// poolName is a thread's name without its number.
func poolName(name string) string {
	name = numberInside.ReplaceAllString(name, " (")
	if short := numberAtEnd.ReplaceAllString(name, ""); short != "" {
		return short
	}
	return strings.TrimSpace(name)
}

// sharedName is the whole name where all have the same, which a number may be part of ("server.rb:289"); else the stem of short.
func sharedName(short string, members []Thread) string {
	for _, each := range members {
		if each.Name != members[0].Name {
			return Stem(short)
		}
	}
	return members[0].Name
}

// Stem is a name that was cut at its number without what led to that, as "php-fpm" of "php-fpm:".
func Stem(name string) string { return cmp.Or(strings.TrimRight(name, " .,:;_#([-"), name) }
