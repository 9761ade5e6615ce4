package node

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

// Dump profiles one Node process and says where its event loop is.
func Dump(ctx context.Context, t *target.Target, self target.Self, length time.Duration) *stack.Dump {
	dump := &stack.Dump{Process: t.Process, Runtime: strings.TrimSpace("Node.js " + t.Version)}
	// Without the right to see its open files, nobody could tell whose inspector listens, or whether it was closed.
	if dump.Lack = t.Blindness(self); dump.Lack != nil {
		return dump
	}
	if dump.Lack = Lack(t, self); dump.Lack != nil {
		return dump
	}
	profile, err := ProfileOf(ctx, t, length)
	if errors.Is(err, ErrLeftOpen) {
		dump.Exposed = "the inspector that this look opened could not be closed again"
	}
	var noRoom *ErrNoRoom
	switch {
	case errors.As(err, &noRoom):
		dump.Lack = &target.Lack{Lacks: noRoom.Words}
	case errors.Is(err, ErrClosed) || errors.Is(err, ErrUnhandled):
		dump.Lack = &target.Lack{Lacks: err.Error()}
	case err != nil:
		dump.Silent = "the inspector did not give a profile: " + err.Error()
	}
	if profile == nil {
		return dump
	}
	if profile.WasOpen != "" {
		dump.Exposed = "the inspector was open already, at " + profile.WasOpen
	}
	if target.IsVersion(profile.Version) {
		dump.Runtime = "Node.js " + profile.Version
	}
	dump.Collecting, dump.Heap = profile.Collecting, profile.Heap.Words()
	dump.HeapFull = profile.Heap.Max > 0 && profile.Heap.Used >= profile.Heap.Max/10*9
	if dump.Heap != "" {
		dump.Notes = append(dump.Notes, "heap: "+dump.Heap)
	}
	if profile.Raw == nil {
		return dump
	}
	dump.HotIsSampled = true
	var text strings.Builder
	fmt.Fprintf(&text, "Stacks of the main thread in %s, by their share of the time\n", length)
	total := int64(0)
	for _, each := range profile.Stacks {
		total += each.Value
	}
	// The highest first, and no more than somebody reads: a name may be long, and in each stack.
	profile.Stacks = flame.Bound(profile.Stacks, maxText)
	for _, each := range profile.Stacks {
		frames := make([]string, len(each.Frames))
		for index, name := range each.Frames {
			frames[len(frames)-1-index] = name
		}
		dump.Hot = append(dump.Hot, stack.Sample{Frames: frames, Value: float64(each.Value)})
		fmt.Fprintf(&text, "\n%5.1f %%\n", 100*float64(each.Value)/float64(max(total, 1)))
		for _, name := range frames {
			fmt.Fprintf(&text, "    %s\n", report.Line(name, 240))
		}
	}
	if count := profile.Waiting["FSReqCallback"] + profile.Waiting["FSReqPromise"]; count >= manyFiles {
		dump.Doubt = fmt.Sprintf("%d file operations are under way", count)
	}
	if waiting := words(profile.Waiting); waiting != "" {
		dump.Notes = append(dump.Notes, "the event loop waits for: "+waiting)
		fmt.Fprintf(&text, "\nThe event loop waits for: %s\n", report.Line(waiting, 240))
	}
	dump.Text = text.String()
	dump.Files = []stack.File{{Name: "stacks.cpuprofile", Content: profile.Raw}}
	return dump
}

// maxText bounds the text of the stacks, in bytes of folded ones.
const maxText = 3 << 20

// manyFiles are as many file operations as libuv has threads for them.
const manyFiles = 4

func words(counts map[string]int) string {
	kinds := make([]string, 0, len(counts))
	for kind := range counts {
		kinds = append(kinds, kind)
	}
	sort.Slice(kinds, func(a, b int) bool {
		if counts[kinds[a]] != counts[kinds[b]] {
			return counts[kinds[a]] > counts[kinds[b]]
		}
		return kinds[a] < kinds[b]
	})
	for index, kind := range kinds {
		kinds[index] = fmt.Sprintf("%d %s", counts[kind], kind)
	}
	return strings.Join(kinds[:min(len(kinds), 8)], ", ")
}
