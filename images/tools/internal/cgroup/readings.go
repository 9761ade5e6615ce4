package cgroup

import "strings"

// Memory is one reading; all in bytes but Kills (processes that the kernel killed for memory), Together (how often it killed all of the cgroup at once),
// Above (how often the cgroup was above its high mark) and Hits (at its limit).
type Memory struct{ Used, Limit, Inactive, Peak, Swap, High, Kills, Together, Above, Hits Amount }

// ReadMemory reads what the kernel counts of the group's memory.
func (g Group) ReadMemory() Memory {
	if g.Version == 2 {
		stat, events := Fields(g.Memory, "memory.stat"), Fields(g.Memory, "memory.events")
		kills, together := killsOf(events, Text(g.Memory, "memory.oom.group"))
		return Memory{
			Used: Number(g.Memory, "memory.current"), Limit: Number(g.Memory, "memory.max"), High: Number(g.Memory, "memory.high"),
			Peak: Number(g.Memory, "memory.peak"), Swap: Number(g.Memory, "memory.swap.current"), Inactive: Field(stat, "inactive_file"),
			Kills: kills, Together: together, Above: Field(events, "high"), Hits: Field(events, "max"),
		}
	}
	if g.Version == 0 {
		return Memory{}
	}
	stat := Fields(g.Memory, "memory.stat")
	return Memory{
		Used: Number(g.Memory, "memory.usage_in_bytes"), Limit: Number(g.Memory, "memory.limit_in_bytes"),
		Peak: Number(g.Memory, "memory.max_usage_in_bytes"), Swap: Field(stat, "total_swap"), Inactive: Field(stat, "total_inactive_file"),
		Kills: Field(Fields(g.Memory, "memory.oom_control"), "oom_kill"), Hits: Number(g.Memory, "memory.failcnt"),
	}
}

// killsOf corrects what version 2 counts: where it kills all of a cgroup (memory.oom.group), it counts the process twice that it chose. Kernels before 5.17 do
// not count such kills themselves.
func killsOf(events map[string]int64, group string) (kills, together Amount) {
	kills, together = Field(events, "oom_kill"), Field(events, "oom_group_kill")
	if !together.Known && strings.TrimSpace(group) == "1" {
		together = Amount{min(kills.Value, 1), kills.Known}
	}
	if kills.Value > together.Value {
		kills.Value -= together.Value
	}
	return kills, together
}

// Working is what is in use without the cache that is easily freed.
func (m Memory) Working() int64 { return max(0, m.Used.Value-m.Inactive.Value) }

// Free is what is left up to the limit, never below 0; false without a limit, or where it is not readable.
func (m Memory) Free() (int64, bool) {
	return max(0, m.Limit.Value-m.Working()), m.Limit.Known && m.Used.Known
}

// CPU is one reading: Usage in microseconds, Stood (the time that was throttled) in milliseconds.
type CPU struct{ Usage, Periods, Throttled, Stood Amount }

// ReadCPU reads what the kernel counts of the group's CPU.
func (g Group) ReadCPU() CPU {
	if g.Version == 0 {
		return CPU{}
	}
	stat := Fields(g.CPU, "cpu.stat")
	read := CPU{Usage: Field(stat, "usage_usec"), Periods: Field(stat, "nr_periods"), Throttled: Field(stat, "nr_throttled")}
	if g.Version == 2 {
		read.Stood = Field(stat, "throttled_usec").per(1000)
	} else {
		read.Stood = Field(stat, "throttled_time").per(1_000_000)
	}
	if !read.Usage.Known && g.CPUAcct != nil {
		read.Usage = Number(g.CPUAcct, "cpuacct.usage")
		read.Usage.Value /= 1000
	}
	return read
}

// CPULimit is the limit in millicores, 0 without one; unknown where it is not visible.
func (g Group) CPULimit() Amount {
	var quota, period string
	switch g.Version {
	case 2:
		quota, period, _ = strings.Cut(strings.TrimSpace(Text(g.CPU, "cpu.max")), " ")
	case 1:
		quota, period = Text(g.CPU, "cpu.cfs_quota_us"), Text(g.CPU, "cpu.cfs_period_us")
	}
	if isNoLimit(quota) {
		return Amount{0, true}
	}
	allowed, within := Parse(quota), Parse(period)
	if !allowed.Known || within.Value == 0 {
		return Amount{}
	}
	return Amount{allowed.Value * 1000 / within.Value, true}
}
