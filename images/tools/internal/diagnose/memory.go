package diagnose

import (
	"fmt"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/room"
	"kdebug/tools/internal/rules"
)

const (
	mib = 1 << 20
	// nearMemoryLimit: at its limit is every cgroup that reads or writes files, as their cache fills what nobody needs; below this share of it in use,
	// that means nothing.
	nearMemoryLimit = 80
)

// memorySection reads the memory of the target's cgroup.
type memorySection struct{ before cgroup.Memory }

func (s *memorySection) begin(look *Look) {
	s.before = look.cgroup.ReadMemory()
	look.memoryLimit = s.before.Limit.Value
}

func (s *memorySection) end(look *Look) *rules.Part {
	part, now := rules.NewPart("memory"), look.cgroup.ReadMemory()
	if !now.Used.Known {
		return look.blindCgroup(part)
	}
	room.FindMemory(part, now)
	working := now.Working()
	text := fmt.Sprintf("%d MiB in use (%d with cache)", working/mib, now.Used.Value/mib)
	if limit := now.Limit.Value; limit > 0 {
		text += fmt.Sprintf(" of %d MiB, %d%%", limit/mib, room.Share(now))
	} else {
		text += ", no limit"
	}
	if now.Peak.Known {
		text += fmt.Sprintf("; peak %d MiB", now.Peak.Value/mib)
	}
	if now.Swap.Value > 0 {
		text += fmt.Sprintf("; %d MiB swapped out", now.Swap.Value/mib)
	}
	if now.High.Known {
		text += fmt.Sprintf("; throttled above %d MiB", now.High.Value/mib)
	}
	text += "; " + report.Counted(now.Kills.Value, "out-of-memory kill")
	part.Section.Text = text + s.heldBack(part, now) + memoryPressure(look, part)
	look.amount("memory", working/mib, "in use")
	return part
}

// heldBack is whether the cgroup had to give memory back within the sample.
func (s *memorySection) heldBack(part *rules.Part, now cgroup.Memory) string {
	times := grown(s.before.Above, now.Above)
	if room.Share(now) >= nearMemoryLimit {
		times += grown(s.before.Hits, now.Hits)
	}
	part.Find("memory_held_back", float64(times), "the cgroup hit its memory limit %s within the sample", report.Counted(times, "time"))
	if all := now.Above.Value + now.Hits.Value; all > 0 {
		return "; " + report.Counted(all, "time") + " at the limit since the start"
	}
	return ""
}

// grown is what was added between two readings; 0 where the first is not known.
func grown(before, now cgroup.Amount) int64 {
	if !before.Known {
		return 0
	}
	return now.Value - before.Value
}

func memoryPressure(look *Look, part *rules.Part) string {
	_, full := cgroup.Pressure(look.cgroup.Memory, "memory.pressure")
	if !full.Known {
		return ""
	}
	part.Find("memory_pressure", float64(full.Value), "all processes waited for memory %d%% of the last 10 seconds", full.Value)
	return fmt.Sprintf("; pressure %d%%", full.Value)
}

// blindCgroup is a part whose numbers the cgroup lacks: with what would help, if a permission would.
func (l *Look) blindCgroup(part *rules.Part) *rules.Part {
	if l.Target.Readable {
		return part.Blind("the target's cgroup has no such numbers, or is not mounted in it", "the target's cgroup files")
	}
	return l.blind(part, "the target's cgroup is not readable")
}
