package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kdebug/tools/internal/report"
)

// gap is a condition that was not measured, and why. Without it, a watch that saw nothing would say that nothing was there.
type gap struct{ text, why string }

func (g gap) words() string { return fmt.Sprintf("%s (%s)", g.text, g.why) }

// stale is for how long a condition may go unmeasured at the end of a watch.
const stale = 15 * time.Second

// gapOf is the gap of one condition; false where it was measured until now.
func (w *wire) gapOf(now time.Time) (gap, bool) {
	last := time.Unix(0, w.known.Load())
	switch {
	case last.Unix() == 0 && w.kind == ofPort:
		return gap{w.text, "nothing accepted a connection there"}, true
	case last.Unix() == 0:
		return gap{w.text, "not readable"}, true
	case now.Sub(last) > stale:
		return gap{w.text, "not readable for the last " + lengthOf(now.Sub(last))}, true
	}
	return gap{}, false
}

// gaps are those of the conditions that were still waited for.
func (l *look) gaps(now time.Time) []gap {
	gaps := l.unset
	if l.wires == nil || len(l.shots) >= l.settings.shots {
		return gaps
	}
	for _, each := range l.wires.wires {
		if found, is := each.gapOf(now); is {
			gaps = append(gaps, found)
		}
	}
	return gaps
}

// neverHeld is " Never held: memory>92%, threads>500."; "" where a look was taken, or nothing was measured.
func (l *look) neverHeld(gaps []gap) string {
	if l.wires == nil || len(l.shots) > 0 {
		return ""
	}
	var words []string
	for _, each := range l.wires.wires {
		isGap := slices.ContainsFunc(gaps, func(gap gap) bool { return gap.text == each.text })
		if !isGap {
			words = append(words, each.text)
		}
	}
	if len(words) == 0 {
		return ""
	}
	return fmt.Sprintf(" Never held: %s.", strings.Join(words, ", "))
}

// gapWords is " Not measured: memory>92% (the container has no limit of memory)."; "" without a gap.
func gapWords(gaps []gap) string {
	if len(gaps) == 0 {
		return ""
	}
	var words []string
	for _, each := range gaps {
		words = append(words, each.words())
	}
	return fmt.Sprintf(" Not measured: %s.", strings.Join(words, "; "))
}

// addGaps puts them into the report, where no look at the living target has that place.
func (l *look) addGaps(gaps []gap) {
	if len(gaps) == 0 || len(l.shots) > 0 {
		return
	}
	l.result.Sections = append(l.result.Sections, report.Section{
		Name: "tripwire", State: report.NotReadable, Text: report.Line(gaps[0].words(), 200), Lacks: "a condition that can be measured here",
	})
}

// nothingToMeasure ends a watch of which no condition can be measured: who set it waits for nothing.
func (l *look) nothingToMeasure() int {
	l.addGaps(l.unset)
	var words []string
	for _, each := range l.unset {
		words = append(words, fmt.Sprintf("%s cannot be watched: %s.", each.text, each.why))
	}
	return l.end("Could not look: "+strings.Join(words, " "), 0)
}
