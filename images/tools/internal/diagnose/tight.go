package diagnose

import (
	"fmt"
	"slices"

	"kdebug/tools/internal/rules"
)

// tightRoom is less memory than a whole look may take, in bytes: 4 MiB of its own, and the pages of its program where nobody has read them lately. A look
// lives on the pod's limit, and at the limit the kernel ends the look or the target.
const tightRoom = 8 << 20

// vital are the sections that cost next to nothing, and say why there is no room.
var vital = []string{"context", "processes", "memory", "cpu"}

// leftOut is a section that was not looked at, to spare the target. It counts as one that could not be read: whoever asks must know.
type leftOut struct{ name, why string }

func (s *leftOut) begin(*Look) {}
func (s *leftOut) end(*Look) *rules.Part {
	return rules.NewPart(s.name).Blind("not looked at: "+s.why, "memory: "+s.why)
}

// withinRoom leaves out all but the vital sections where the target's container has too little memory left for the rest.
func (l *Look) withinRoom(all []named) []named {
	// A cgroup that is named is not the one that we live in.
	if l.Target == nil || l.Settings.Cgroup != "" {
		return all
	}
	now := l.cgroup.ReadMemory()
	free, limited := now.Free()
	if !limited || now.Limit.Value == 0 || free >= tightRoom {
		return all
	}
	why := fmt.Sprintf("the container has %d of its %d MiB left, and a whole look may take %d", free/mib, now.Limit.Value/mib, tightRoom/mib)
	l.tight = true
	kept := slices.Clone(all)
	for at, each := range kept {
		if !slices.Contains(vital, each.name) {
			kept[at].section = &leftOut{each.name, why}
		}
	}
	return kept
}
