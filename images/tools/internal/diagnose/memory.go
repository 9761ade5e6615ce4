package diagnose

import (
	"fmt"
	"math"
	"time"

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
type memorySection struct {
	before cgroup.Memory
	felt   cgroup.Felt
	at     time.Time
}

func (s *memorySection) begin(look *Look) {
	s.before, s.felt, s.at = look.cgroup.ReadMemory(), look.cgroup.ReadFelt(), time.Now()
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
	switch limit := now.Limit.Value; {
	case limit > 0:
		text += fmt.Sprintf(" of %d MiB, %d%%", limit/mib, room.Share(now))
	case look.cgroup.Unlimited():
		text += ", no limit of its own"
	default:
		text += ", a limit is not visible"
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
	if now.Kills.Known {
		text += "; " + report.Counted(now.Kills.Value, "out-of-memory kill")
	} else {
		text += "; out-of-memory kills are not visible"
	}
	felt := look.cgroup.ReadFelt()
	text += s.heldBack(part, now, felt) + s.readAgain(part, now, felt, time.Since(s.at)) + memoryPressure(look, part)
	look.amount("memory", working/mib, "in use")
	if !felt.Sees() && len(part.Findings) == 0 {
		return part.Blind(text, "what the container feels of a memory limit above its own, as the pod's: this kernel counts neither what it reads again nor pressure")
	}
	part.Section.Text = text
	return part
}

// heldBack is whether the cgroup had to give memory back within the sample. At the limit of its pod, which comes first in most pods, its own counters stay as
// they are.
func (s *memorySection) heldBack(part *rules.Part, now cgroup.Memory, felt cgroup.Felt) string {
	times := grown(s.before.Above, now.Above)
	if room.Share(now) >= nearMemoryLimit {
		times += grown(s.before.Hits, now.Hits)
		if scanned := grown(s.felt.Scanned, felt.Scanned); times == 0 && scanned > 0 {
			part.Find("memory_held_back", float64(scanned), "the kernel took memory back from the container within the sample, at a limit above its own (%s looked at)", report.Counted(scanned, "page"))
		}
	}
	part.Find("memory_held_back", float64(times), "the cgroup hit its memory limit %s within the sample", report.Counted(times, "time"))
	if all := now.Above.Value + now.Hits.Value; all > 0 {
		return "; " + report.Counted(all, "time") + " at the limit since the start"
	}
	return ""
}

const (
	// fewAgain is so little that any program reads it again, in bytes within a sample.
	fewAgain = 4 << 20
	// atLimit: the cache of files fills a cgroup up to its limit, less what the kernel keeps free; in percent of the limit.
	atLimit = 95
)

// readAgain is what the container read again within the sample, because the kernel had taken it away, in percent of what it holds a second: that shows a lack of
// memory by whosever limit.
func (s *memorySection) readAgain(part *rules.Part, now cgroup.Memory, felt cgroup.Felt, elapsed time.Duration) string {
	again := felt.ReadAgain(s.felt)
	switch {
	case !again.Known:
		return "; what it reads again is not visible"
	case again.Value < fewAgain || elapsed <= 0:
		return ""
	}
	below := ""
	switch limit := now.Limit.Value; {
	case limit == 0:
		below = ", and not by a limit of the container's own"
	case now.Used.Value*100 < limit*atLimit:
		below = ", although the container is below its limit"
	}
	read := fmt.Sprintf("%d MiB read again in %.0f s after the kernel had taken them away", again.Value/mib, elapsed.Seconds())
	share := float64(again.Value) * 100 / float64(max(1, now.Used.Value)) / elapsed.Seconds()
	part.Find("memory_read_again", math.Round(share), "memory is short%s: %s (it holds %d MiB)", below, read, now.Used.Value/mib)
	return "; " + read
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
		return "; pressure is not visible"
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
