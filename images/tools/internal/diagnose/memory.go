package diagnose

import (
	"fmt"

	"kdebug/tools/internal/rules"
)

const (
	mib = 1 << 20
	// nearMemoryLimit: at its limit is every cgroup that reads or writes files, as their cache fills what nobody needs; below this share of it in use,
	// that means nothing.
	nearMemoryLimit = 80
)

// memorySection reads the memory of the target's cgroup.
type memorySection struct{ before memory }

// memory is one reading; all in bytes but kills, above (how often the cgroup was above its high mark) and hits (at its limit).
type memory struct{ used, limit, inactive, peak, swap, high, kills, above, hits amount }

func readMemory(from cgroup) memory {
	if from.version == 2 {
		stat, events := fieldsIn(from.memory, "memory.stat"), fieldsIn(from.memory, "memory.events")
		return memory{
			used: numberIn(from.memory, "memory.current"), limit: numberIn(from.memory, "memory.max"), high: numberIn(from.memory, "memory.high"),
			peak: numberIn(from.memory, "memory.peak"), swap: numberIn(from.memory, "memory.swap.current"), inactive: field(stat, "inactive_file"),
			kills: field(events, "oom_kill"), above: field(events, "high"), hits: field(events, "max"),
		}
	}
	if from.version == 0 {
		return memory{}
	}
	stat := fieldsIn(from.memory, "memory.stat")
	return memory{
		used: numberIn(from.memory, "memory.usage_in_bytes"), limit: numberIn(from.memory, "memory.limit_in_bytes"),
		peak: numberIn(from.memory, "memory.max_usage_in_bytes"), swap: field(stat, "total_swap"), inactive: field(stat, "total_inactive_file"),
		kills: field(fieldsIn(from.memory, "memory.oom_control"), "oom_kill"), hits: numberIn(from.memory, "memory.failcnt"),
	}
}

// working is what is in use without the cache that is easily freed.
func (m memory) working() int64 { return max(0, m.used.value-m.inactive.value) }

func (s *memorySection) begin(look *Look) {
	s.before = readMemory(look.cgroup)
	look.memoryLimit = s.before.limit.value
}

func (s *memorySection) end(look *Look) *rules.Part {
	part, now := rules.NewPart("memory"), readMemory(look.cgroup)
	if !now.used.known {
		return look.blindCgroup(part)
	}
	part.Find("oom_kill", float64(now.kills.value), "the kernel killed %s of the target for lack of memory", count(now.kills.value, "process", "processes"))
	working := now.working()
	text := fmt.Sprintf("%d MiB in use (%d with cache)", working/mib, now.used.value/mib)
	if limit := now.limit.value; limit > 0 {
		share := working * 100 / limit
		part.Find("memory_near_limit", float64(share), "memory at %d%% of its limit (%d of %d MiB)", share, working/mib, limit/mib)
		text += fmt.Sprintf(" of %d MiB, %d%%", limit/mib, share)
	} else {
		text += ", no limit"
	}
	if now.peak.known {
		text += fmt.Sprintf("; peak %d MiB", now.peak.value/mib)
	}
	if now.swap.value > 0 {
		text += fmt.Sprintf("; %d MiB swapped out", now.swap.value/mib)
	}
	if now.high.known {
		text += fmt.Sprintf("; throttled above %d MiB", now.high.value/mib)
	}
	text += "; " + count(now.kills.value, "out-of-memory kill")
	part.Section.Text = text + s.heldBack(part, now) + memoryPressure(look, part)
	look.amount("memory", working/mib, "in use")
	return part
}

// heldBack is whether the cgroup had to give memory back within the sample.
func (s *memorySection) heldBack(part *rules.Part, now memory) string {
	times := grown(s.before.above, now.above)
	if now.limit.value > 0 && now.working()*100/now.limit.value >= nearMemoryLimit {
		times += grown(s.before.hits, now.hits)
	}
	part.Find("memory_held_back", float64(times), "the cgroup hit its memory limit %s within the sample", count(times, "time"))
	if all := now.above.value + now.hits.value; all > 0 {
		return "; " + count(all, "time") + " at the limit since the start"
	}
	return ""
}

// grown is what was added between two readings; 0 where the first is not known.
func grown(before, now amount) int64 {
	if !before.known {
		return 0
	}
	return now.value - before.value
}

func memoryPressure(look *Look, part *rules.Part) string {
	_, full := pressure(look.cgroup.memory, "memory.pressure")
	if !full.known {
		return ""
	}
	part.Find("memory_pressure", float64(full.value), "all processes waited for memory %d%% of the last 10 seconds", full.value)
	return fmt.Sprintf("; pressure %d%%", full.value)
}

// blindCgroup is a part whose numbers the cgroup lacks: with what would help, if a permission would.
func (l *Look) blindCgroup(part *rules.Part) *rules.Part {
	if l.Target.Readable {
		return part.Blind("the target's cgroup has no such numbers, or is not mounted in it", "the target's cgroup files")
	}
	return l.blind(part, "the target's cgroup is not readable")
}
