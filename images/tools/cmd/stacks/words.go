package main

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// maxQuoted bounds a name of a thread or a function in a sentence.
const maxQuoted = 160

// say writes one line; its words may come from the target. Spaces at its beginning stay.
func say(out io.Writer, format string, words ...any) {
	text := fmt.Sprintf(format, words...)
	if strings.HasPrefix(text, "\n") {
		fmt.Fprintln(out)
		text = text[1:]
	}
	rest := strings.TrimLeft(text, " ")
	fmt.Fprintln(out, text[:len(text)-len(rest)]+report.Line(rest, 240))
}

// nameOf is what people call a process: its own title up to a remark, else the name of its program.
func nameOf(dump *stack.Dump) string {
	if title := dump.Process.Title(); title != "" {
		title, _, _ = strings.Cut(title, " (")
		title, _, _ = strings.Cut(title, " [")
		return title
	}
	return dump.Process.Name
}

// kindOf begins a sentence.
func kindOf(process target.Process) string {
	kind := process.Kind()
	return strings.ToUpper(kind[:1]) + kind[1:]
}

func withoutIdle(samples []stack.Sample) []stack.Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(sample stack.Sample) bool { return len(sample.Frames) == 0 || sample.Frames[0] == "(idle)" })
}

func helps(helps []string) string {
	words := map[string]string{report.Identity: "run as the target's user", report.General: "profile general", report.Sysadmin: "profile sysadmin"}
	var told []string
	for _, help := range helps {
		told = append(told, words[help])
	}
	if len(told) == 0 {
		return ""
	}
	return "; helps: " + strings.Join(told, ", ")
}

// holding is where the holder of a lock is, and what it does there: " in Shop.upstream, reading from 10.1.2.3:5432".
func holding(holder stack.Thread) string {
	words := in(short(ownOrFirst(holder.Own, holder.Frames)))
	switch stack.Classify(holder) {
	case thread.Other, thread.Queue:
		return words
	}
	return words + ", " + stack.Does(holder)
}

// placesOf are the names of threads with the place of each: "left in Shop.count, right in Shop.place".
func placesOf(dump *stack.Dump, names []string) string {
	const most = 4
	var words []string
	for _, name := range names[:min(most, len(names))] {
		place := ""
		for _, each := range dump.Threads {
			if each.Name == name {
				place = in(short(ownOrFirst(each.Own, each.Frames)))
			}
		}
		words = append(words, report.Name(name, maxQuoted)+place)
	}
	text := strings.Join(words, ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

// short is a frame as a headline has it: one of Java by its class and method, without package and file.
func short(frame string) string {
	function, file, found := strings.Cut(frame, "(")
	if !found || !strings.Contains(file, ".java:") && !strings.Contains(file, ".kt:") && !strings.Contains(file, ".scala:") {
		return frame
	}
	parts := strings.Split(function, ".")
	return strings.Join(parts[max(0, len(parts)-2):], ".")
}

func in(frame string) string {
	if frame == "" {
		return ""
	}
	return " in " + report.Name(frame, maxQuoted)
}

func ownOrFirst(own string, frames []string) string {
	if own != "" || len(frames) == 0 {
		return own
	}
	return frames[0]
}

func span(length time.Duration) string {
	if length >= 2*time.Minute {
		return report.Counted(int(length/time.Minute), "minute")
	}
	return fmt.Sprintf("%d s", length/time.Second)
}

func quoted(names []string, most int) string {
	shown := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		shown = append(shown, report.Quoted(name, maxQuoted))
	}
	text := strings.Join(shown, ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

func sorted(groups map[string][]stack.Thread) []string {
	places := keys(groups)
	sort.SliceStable(places, func(a, b int) bool { return len(groups[places[a]]) > len(groups[places[b]]) })
	return places
}

func keys[V any](of map[string]V) []string {
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
