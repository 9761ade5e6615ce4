package main

import (
	"fmt"
	"slices"
	"strings"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

const maxVerdict = 299

// calm is what is said where nothing was found, by what could be looked at.
var calm = map[target.Runtime]string{
	target.JVM:    "No deadlock, no queue at a lock and no pool that waits",
	target.Python: "No thread computes all the time and no pool waits",
	target.Node:   "The event loop has time left",
	target.Go:     "No goroutines are stuck together",
}

// verdict is what people read first: what was found, the worst first; else what could not be seen; else what the threads do.
func (l *look) verdict(findings []report.Finding) string {
	if len(findings) > 0 {
		texts := make([]string, len(findings))
		for index, finding := range findings {
			texts[index] = finding.Text
		}
		return report.Line(strings.Join(texts, "; "), maxVerdict) + "."
	}
	outside := ""
	if count := len(l.threads()); count > 0 {
		outside = fmt.Sprintf("%s: %s", report.Counted(count, l.unit()), stack.Summary(l.threads()))
	}
	if lack := l.lack(); lack != nil {
		words := "Could not look: what lacks is " + lack.Lacks
		if outside != "" {
			words += "; from outside it has " + outside
		}
		if cpu := l.cpuWords(); cpu != "" {
			words += "; " + cpu
		}
		return report.Line(words, maxVerdict) + "."
	}
	words := calm[l.target.Runtime]
	if words == "" {
		words = "Nothing hangs or computes all the time"
		if l.target.Runtime != target.Native {
			words = kindOf(l.target.Process) + " is seen from outside only, without its stacks: nothing hangs or computes all the time"
		}
	}
	for _, dump := range l.dumps {
		if dump.HeapFull {
			words = "The heap of " + nameOf(dump) + " is nearly full, " + dump.Heap + "; " + strings.ToLower(words[:1]) + words[1:]
		}
		if dump.Unseen != "" {
			words = dump.Unseen + "; of the others: " + strings.ToLower(words[:1]) + words[1:]
			break
		}
	}
	if waiting, holding := l.waitingByTitle(); len(waiting) > 0 {
		words = titleWords(waiting, holding)
	}
	if each := l.waitingRequest(); each != nil {
		words = each.Name + " waits" + in(short(each.Own)) + waitWords([]stack.Thread{*each}) + ", in a request; " + strings.ToLower(words[:1]) + words[1:]
	}
	if cpu := l.cpuWords(); cpu != "" && l.isUnsure() {
		words = cpu + "; " + strings.ToLower(words[:1]) + words[1:]
	} else if cpu != "" {
		outside = strings.TrimPrefix(outside+"; "+cpu, "; ")
	}
	if outside != "" {
		words += "; " + outside
	}
	return report.Line(words, maxVerdict) + "."
}

// waitingRequest is the thread that waits within a request, of those the one for which the kernel knows the most; nil if there is none.
func (l *look) waitingRequest() *stack.Thread {
	var found *stack.Thread
	for _, each := range l.threads() {
		if servesAndWaits(each) && (found == nil || each.Kernel.Waited > found.Kernel.Waited) {
			found = &each
		}
	}
	return found
}

// busy is how much CPU of one process, in cores, is no sign of health.
const busy = 0.5

// isUnsure is whether something may be wrong that is no finding: a request that waits, much CPU, a heap that is nearly full.
func (l *look) isUnsure() bool {
	for _, dump := range l.all() {
		if dump.HeapFull || dump.Busy >= busy || slices.ContainsFunc(dump.Threads, servesAndWaits) {
			return true
		}
	}
	return false
}

// servesAndWaits is whether a thread has waited for a second or longer with a request in its hands.
func servesAndWaits(each stack.Thread) bool {
	switch stack.Classify(each) {
	case thread.OnCPU, thread.Ready, thread.Queue:
		return false
	}
	return each.Serves && each.Waits()
}

// cpuWords say how much CPU the processes had, and where it goes if enough was sampled to say so; "" for little.
func (l *look) cpuWords() string {
	var busiest *stack.Dump
	for _, dump := range l.all() {
		if dump.Cores >= stack.MinCores && (busiest == nil || dump.Cores > busiest.Cores) {
			busiest = dump
		}
	}
	if busiest == nil {
		return ""
	}
	words := fmt.Sprintf("%s uses %.2f of a core", nameOf(busiest), busiest.Cores)
	if busiest.Samples < stack.MinSamples {
		return words
	}
	if hot := hottest(busiest, 1); len(hot) > 0 && hot[0].Share >= hotShare {
		words += fmt.Sprintf(", %.0f%% of it in %s", 100*hot[0].Share, hot[0].Name)
	}
	return words
}
