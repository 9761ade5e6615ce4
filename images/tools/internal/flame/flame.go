// Package flame draws CPU profiles: as a flame graph in SVG, for speedscope, as folded lines, and as a list of the hottest functions.
//
// kdebug redacts these files like a log, line by line, so each frame is on a line of its own, in a form in which no word that is taken out
// breaks the file.
package flame

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Stack is a chain of calls and how often it was seen, or for how long; root first. Names may be any text: of a target.
type Stack struct {
	Frames []string
	Value  int64
}

// Limits of one profile. A target chooses its names and how deep it calls.
const (
	maxName = 200
	// MaxDepth is how many frames of a stack are kept, from the root; the rest becomes one.
	MaxDepth = 200
)

// MaxFrames is how many frames all stacks of a profile may have together. A profile can say a long stack in few bytes, and say it again and again,
// and who reads it has no memory limit of its own in the pod.
const MaxFrames = 8 << 20

// ErrTooLarge is for a profile with more than MaxFrames.
var ErrTooLarge = errors.New("the profile has too many frames")

// Deeper stands for the frames below MaxDepth.
const Deeper = "(deeper)"

// Hot is a function: how much was spent in itself, and in it or what it called.
type Hot struct {
	Name        string
	Self, Total int64
}

// Top gives the n functions that most was spent in themselves, the most first. A function that calls itself counts once a stack.
func Top(stacks []Stack, n int) []Hot {
	functions := map[string]*Hot{}
	for _, stack := range Clean(stacks) {
		seen := map[string]bool{}
		for at, name := range stack.Frames {
			hot := functions[name]
			if hot == nil {
				hot = &Hot{Name: name}
				functions[name] = hot
			}
			if !seen[name] {
				seen[name] = true
				hot.Total += stack.Value
			}
			if at == len(stack.Frames)-1 {
				hot.Self += stack.Value
			}
		}
	}
	list := make([]Hot, 0, len(functions))
	for _, hot := range functions {
		list = append(list, *hot)
	}
	slices.SortFunc(list, func(a, b Hot) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(n, len(list))]
}

// Where gives the function that the time goes into: from the root it follows the callee with most of it, as long as that has at least half
// of all. So it says more than the first of Top where many small functions share the work of one. False if there is none.
func Where(stacks []Stack) (Hot, bool) {
	at := tree(stacks)
	half := (at.value + 1) / 2
	var found *node
	for at != nil && at.value > 0 {
		var most *node
		for _, name := range sortedNames(at.children) {
			if child := at.children[name]; child.value >= half && (most == nil || child.value > most.value) {
				most = child
			}
		}
		if at = most; at != nil {
			found = at
		}
	}
	if found == nil {
		return Hot{}, false
	}
	hot := Hot{Name: found.name, Self: found.value, Total: found.value}
	for _, child := range found.children {
		hot.Self -= child.value
	}
	return hot, true
}

// Total is the sum of all values.
func Total(stacks []Stack) (total int64) {
	for _, stack := range stacks {
		total += max(stack.Value, 0)
	}
	return total
}

// Clean gives the stacks with names that every format can hold, joined where they are equal, in the order of their frames. Stacks without
// frames or with no positive value are left out.
func Clean(stacks []Stack) []Stack {
	joined := map[string]*Stack{}
	for _, stack := range stacks {
		if len(stack.Frames) == 0 || stack.Value <= 0 {
			continue
		}
		frames := make([]string, 0, min(len(stack.Frames), MaxDepth+1))
		for _, name := range stack.Frames {
			if len(frames) == MaxDepth {
				frames = append(frames, Deeper)
				break
			}
			frames = append(frames, cleanName(name))
		}
		key := strings.Join(frames, ";")
		if same := joined[key]; same != nil {
			same.Value += stack.Value
		} else {
			joined[key] = &Stack{frames, stack.Value}
		}
	}
	list := make([]Stack, 0, len(joined))
	for _, stack := range joined {
		list = append(list, *stack)
	}
	slices.SortFunc(list, func(a, b Stack) int { return slices.Compare(a.Frames, b.Frames) })
	return list
}

// Folded gives one line a stack: its frames with ";" between them, a space, its value.
func Folded(stacks []Stack) []byte {
	var text strings.Builder
	for _, stack := range Clean(stacks) {
		fmt.Fprintf(&text, "%s %d\n", strings.Join(stack.Frames, ";"), stack.Value)
	}
	return []byte(text.String())
}

var replaced = strings.NewReplacer(
	";", ":", // what folded lines have between frames
	`"`, "", "'", "", "`", "", `\`, "/", // a quotation mark that is never closed would make the rest of the line one value
)

// cleanName makes a name that stays on its line, separates nothing and begins no private key: kdebug hides all that follows one.
func cleanName(name string) string {
	var clean strings.Builder
	count, dashes := 0, 0
	// Before it is read: a name may have megabytes, and be in each stack.
	name = name[:min(len(name), (maxName+1)*utf8.UTFMax)]
	for _, char := range replaced.Replace(strings.ToValidUTF8(strings.TrimSpace(name), "?")) {
		if dashes++; char != '-' {
			dashes = 0
		}
		if dashes > 2 {
			continue
		}
		if !unicode.IsPrint(char) {
			char = '?'
		}
		if count++; count > maxName {
			clean.WriteRune('…')
			break
		}
		clean.WriteRune(char)
	}
	if clean.Len() == 0 {
		return "?"
	}
	return clean.String()
}

// Other stands for the stacks that Bound left out.
const Other = "(other)"

// Bound gives the stacks whose folded lines have at most so many bytes together: those with the highest values, and one for all others.
func Bound(stacks []Stack, most int) []Stack {
	list := Clean(stacks)
	slices.SortStableFunc(list, func(a, b Stack) int { return cmp.Compare(b.Value, a.Value) })
	size, other := 0, int64(0)
	kept := list[:0]
	for _, stack := range list {
		length := len(strings.Join(stack.Frames, ";")) + 20
		if size+length > most {
			other += stack.Value
			continue
		}
		size += length
		kept = append(kept, stack)
	}
	if other > 0 {
		kept = append(kept, Stack{[]string{Other}, other})
	}
	return kept
}
