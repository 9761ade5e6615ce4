package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

// manyCapabilities is from how many on a list of them is no help.
const manyCapabilities = 17

// contextSection says whom we look at, and who we are.
type contextSection struct{}

func (s *contextSection) begin(*Look) {}

func (s *contextSection) end(look *Look) *rules.Part {
	part := rules.NewPart("context")
	we := fmt.Sprintf("we are %d:%d with %s", look.Self.UID, look.Self.GID, rightsOf(look.Self.Effective))
	part.Say("kernel %s, clock %s", kernel(), look.Began.UTC().Format(time.RFC3339))
	if look.Target == nil {
		part.Find("targeting_off", 1, "targeting is not effective: %v", look.whyNone)
		part.Section.Text = we + "; no target"
		return part
	}
	it := look.Target
	name := report.Name(plain(it.Name), maxTitle)
	// Process 1, where it is no pause, has the namespace for itself and its debug containers.
	if neighbours := len(look.Neighbours); it.PID != 1 && neighbours > 1 {
		part.Find("target_unclear", float64(neighbours), "%d containers share this process namespace; process %d (%s), the oldest, was looked at", neighbours, it.PID, name)
		part.Say("the first processes of the containers: %s", names(look.Neighbours))
	}
	of, seccomp := "", map[int]string{0: ", no seccomp", 2: ", seccomp"}[it.Seccomp]
	if it.Container != "" {
		of = " of container " + it.Container
	}
	part.Section.Text = plain(fmt.Sprintf("target is process %d (%s%s) as %d:%d with %s%s; %s", it.PID, name, of, it.UID, it.GID, rightsOf(it.Effective), seccomp, we))
	if look.cgroup.Version > 0 {
		part.Say("the target's cgroup is version %d", look.cgroup.Version)
	}
	return part
}

func names(neighbours []target.Neighbour) string {
	words := make([]string, 0, len(neighbours))
	for _, each := range neighbours {
		of := ""
		if each.Container != "" {
			of = " of " + each.Container
		}
		words = append(words, fmt.Sprintf("%d (%s%s)", each.PID, report.Name(each.Name, maxTitle), of))
	}
	return plain(strings.Join(words, ", "))
}

// rightsOf is the end of a sentence about a set of capabilities.
func rightsOf(set uint64) string {
	names := target.Capabilities(set)
	switch {
	case len(names) == 0:
		return "no capabilities"
	case len(names) >= manyCapabilities:
		return "many capabilities"
	}
	return "capabilities " + strings.Join(names, ",")
}

func kernel() string {
	var name syscall.Utsname
	if syscall.Uname(&name) != nil {
		return "unknown"
	}
	return words(name.Release[:]) + " " + words(name.Machine[:])
}

// words: the type of the characters differs between processors.
func words[char int8 | uint8](text []char) string {
	var all strings.Builder
	for _, each := range text[:max(0, slices.Index(text, 0))] {
		all.WriteByte(byte(each))
	}
	return all.String()
}
