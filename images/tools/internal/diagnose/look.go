// Package diagnose is the first look at a running container from an ephemeral container beside it: docs/autodiagnose.md. It only reads, opens
// connections to nothing outside the cluster, and ends by itself: each of its sections is bounded in time and in what it reads of a target.
package diagnose

import (
	"sync"
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/probe"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// section is one thing that is looked at.
type section interface {
	// begin takes the first reading of what grows, or does what takes time. The sections begin one after the other, in the order of the report,
	// so what blocks (a name server, a dead volume) belongs into a goroutine that end waits for.
	begin(look *Look)
	// end comes after the sample, and says what was found. It is called once for each section, in the order of the report; begin was called before.
	end(look *Look) *rules.Part
}

// named is a section with the name that the report has for it.
type named struct {
	name string
	section
	// needsTarget: without a visible process of the target there is nothing to look at.
	needsTarget bool
}

// sections are all of a look, in the order of the report.
func sections() []named {
	return []named{
		{"context", &contextSection{}, false},
		{"processes", &processesSection{}, true},
		{"memory", &memorySection{}, true},
		{"cpu", &cpuSection{}, true},
		{"io", &ioSection{}, true},
		{"files", &filesSection{}, true},
		{"sockets", &socketsSection{}, false},
		{"dns", &dnsSection{}, false},
		{"peers", &peersSection{}, false},
		{"tls", &tlsSection{}, false},
		{"filesystem", &filesystemSection{}, true},
		{"environment", &environmentSection{}, true},
		{"runtime", &runtimeSection{}, true},
	}
}

// Look is one run. Sections tell each other by it what more than one of them needs; who sets a field is said there, and only sections after it in
// the order of the report may use it in begin.
type Look struct {
	// Target is the first process of the target's container; nil where no process of another container is visible (not effective).
	Target *target.Target
	// whyNone is why there is no target.
	whyNone error
	// Neighbours are the first processes of all containers that could be meant, the target among them.
	Neighbours []target.Neighbour
	Self       target.Self
	Settings   Settings
	Began      time.Time
	// Elapsed is the time from the first reading to the last; known in end only.
	Elapsed time.Duration

	// tight is whether only the vital sections are looked at, for lack of memory; set before the first begin.
	tight bool
	// tree is set by processes.begin.
	tree tree
	// cgroup has the places of the target's numbers; set before the first begin.
	cgroup cgroup.Group
	// memoryLimit is in bytes, 0 without one or where it is not readable; cpuLimit in millicores likewise. Set by memory.begin and cpu.begin.
	memoryLimit, cpuLimit int64
	// open is what files.begin saw of the open files of tree.pids.
	open openFiles
	// environment is what may be told of the variables of tree.pids. Set by environment.begin.
	environment environment
	// silent gives the paths of file systems that do not answer; it waits for their answer, at most 5 s. Set by io.begin.
	silent func() []string
	// runtime is what runs the target's code, as the report says it; set by processes.begin. unknown where it is not known.
	runtime target.Runtime

	// network is what sockets.begin saw of the sockets.
	network *network
	// names is what the target's resolver is told. Set by dns.begin.
	names probe.Names

	series []report.Series

	mutex sync.Mutex
	facts []report.Fact
	cuts  []string
}

// fact records a text for a comparison with other pods; nothing where KDEBUG_COMPARE is not set. It may be called by several at once.
func (l *Look) fact(group, value, name string) {
	l.tell(report.Fact{Group: group, Text: short(value), Name: short(name)})
}

// amount records a number for a comparison with other pods.
func (l *Look) amount(group string, number int64, name string) {
	l.tell(report.Fact{Group: group, Number: &number, Name: short(name)})
}

// maxFact is how much of a text or a name is told.
const maxFact = 80

func short(text string) string { return plain(text[:min(len(text), maxFact)]) }

// cut records that not all facts of a group are told.
func (l *Look) cut(group string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.cuts = append(l.cuts, group)
}

func (l *Look) tell(fact report.Fact) {
	if l.Settings.Compare == "" || l.Target == nil {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.facts = append(l.facts, fact)
}

// findCgroup looks below the target's root, or where AUTODIAGNOSE_CGROUP says.
func (l *Look) findCgroup() cgroup.Group {
	switch {
	case l.Target == nil:
		return cgroup.Group{}
	case l.Settings.Cgroup != "":
		return cgroup.At(l.Settings.Cgroup)
	}
	return cgroup.Of(l.Target)
}

// restOf is how long the sample still lasts when the sections took so long to begin: a pod without CPU has used it up by then, and what began last has
// nothing to tell of less than a second.
func restOf(sample, began time.Duration) time.Duration {
	return max(sample-began, min(sample, thread.Least))
}

// look runs all sections, with the sample between their two halves, and gives what they found in the order of the report.
func (l *Look) look() []*rules.Part {
	l.cgroup = l.findCgroup()
	all := l.withinRoom(sections())
	reading := l.readSeries()
	since := time.Now()
	for _, each := range all {
		if l.Target != nil || !each.needsTarget {
			each.begin(l)
		}
	}
	time.Sleep(restOf(l.Settings.Sample, time.Since(since)))
	l.series = reading()
	l.Elapsed = time.Since(since)
	parts := make([]*rules.Part, 0, len(all))
	for _, each := range all {
		if l.Target == nil && each.needsTarget {
			parts = append(parts, rules.NewPart(each.name).Blind("no target process is visible", "a target process", target.HelpsFor(l.whyNone)...))
			continue
		}
		parts = append(parts, each.end(l))
	}
	if l.Settings.Compare != "" && l.Target != nil && !l.tight {
		l.compare()
	}
	return parts
}

// blind is a part of which nothing can be read because the kernel does not let us look into the target; text says what, the end of the sentence
// is what would help.
func (l *Look) blind(part *rules.Part, text string) *rules.Part {
	lacks, help, helps := l.blindness()
	return part.Blind(text+"; "+help, lacks, helps...)
}
