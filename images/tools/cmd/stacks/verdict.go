package main

import (
	"fmt"
	"strings"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/sockets"
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
		if lack := l.lack(); lack != nil {
			texts = append(texts, "could not look into it: what lacks is "+lack.Lacks)
		}
		return report.Line(strings.Join(texts, "; "), maxVerdict) + "."
	}
	outside := ""
	if count := len(l.threads()); count > 0 {
		outside = fmt.Sprintf("%s: %s", report.Counted(count, l.unit()), stack.Summary(l.threads()))
	}
	if lack := l.lack(); lack != nil {
		words := "Could not look: what lacks is " + lack.Lacks
		// What is known comes first: what lacks may be long.
		for _, known := range []string{l.doubt(), l.cpuWords()} {
			if known != "" {
				words = known + "; " + strings.ToLower(words[:1]) + words[1:]
			}
		}
		if outside != "" {
			words += "; from outside it has " + outside
		}
		return report.Line(words, maxVerdict) + "."
	}
	words := calm[l.target.Runtime]
	if words == "" {
		// Whether a thread that waits is idle or hangs, nobody sees from outside.
		words = "Nothing computes all the time"
		if l.target.Runtime != target.Native {
			words = kindOf(l.target.Process) + " is seen from outside only, without its stacks: " + strings.ToLower(words[:1]) + words[1:]
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
	if doubt := l.doubt(); doubt != "" {
		words = doubt + "; " + strings.ToLower(words[:1]) + words[1:]
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

// doubt is the first thing that may be wrong and is no finding: requests that wait, a connection without an answer, a refused one; "" for none.
func (l *look) doubt() string {
	if words := l.waitingWords(); words != "" {
		return words
	}
	if words := sockets.Waiting(l.sockets); words != "" {
		return words
	}
	if words := l.attempts.Refused(); words != "" {
		return words
	}
	for _, dump := range l.dumps {
		if dump.Doubt != "" {
			return dump.Doubt
		}
	}
	return l.unreachable
}

// waitingWords tell of the place in the program's own code at which the most threads wait with a request in their hands, or for a peer.
func (l *look) waitingWords() string {
	places := map[string][]stack.Thread{}
	best := ""
	for _, each := range l.threads() {
		if !mayHang(each) {
			continue
		}
		place := each.Own + stack.Does(each)
		places[place] = append(places[place], each)
		if len(places[place]) > len(places[best]) || len(places[place]) == len(places[best]) && place < best {
			best = place
		}
	}
	found := places[best]
	if len(found) == 0 {
		return ""
	}
	words := report.Name(found[0].Name, maxQuoted) + " waits"
	if len(found) > 1 {
		words = fmt.Sprintf("%s wait", report.Counted(len(found), l.unit()))
	}
	words += waitsIn(found[0].Own, found)
	if found[0].Serves {
		words += ", in a request"
	}
	return words
}

// busy is how much CPU of one process, in cores, is no sign of health.
const busy = 0.5

// isUnsure is whether something may be wrong that is no finding: a doubt, much CPU, a heap that is nearly full.
func (l *look) isUnsure() bool {
	for _, dump := range l.all() {
		if dump.HeapFull || dump.Busy >= busy {
			return true
		}
	}
	return l.doubt() != ""
}

// mayHang is whether a thread waits within a request, or has waited in the program's own code for a peer, or anywhere for a name server, for a second or
// longer. One that waits for news on purpose looks the same.
func mayHang(each stack.Thread) bool {
	class := stack.Classify(each)
	switch class {
	case thread.OnCPU, thread.Ready, thread.Queue:
		return false
	}
	asksNames := strings.HasPrefix(each.Kernel.Words, thread.Names)
	return each.Serves || (each.Own != "" || asksNames) && class == thread.Socket && each.Waits()
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
