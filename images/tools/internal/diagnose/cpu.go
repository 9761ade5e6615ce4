package diagnose

import (
	"fmt"
	"strings"
	"time"

	"kdebug/tools/internal/rules"
)

// cpuSection reads the CPU of the target's cgroup, over the sample.
type cpuSection struct {
	before cpu
	at     time.Time
}

// cpu is one reading: usage in microseconds, stood (the time that was throttled) in milliseconds.
type cpu struct{ usage, periods, throttled, stood amount }

func readCPU(from cgroup) cpu {
	if from.version == 0 {
		return cpu{}
	}
	stat := fieldsIn(from.cpu, "cpu.stat")
	read := cpu{usage: field(stat, "usage_usec"), periods: field(stat, "nr_periods"), throttled: field(stat, "nr_throttled")}
	if from.version == 2 {
		read.stood = amount{stat["throttled_usec"] / 1000, true}
	} else {
		read.stood = amount{stat["throttled_time"] / 1_000_000, true}
	}
	if !read.usage.known && from.cpuacct != nil {
		read.usage = numberIn(from.cpuacct, "cpuacct.usage")
		read.usage.value /= 1000
	}
	return read
}

// cpuLimitOf is the limit in millicores; 0 without one.
func cpuLimitOf(from cgroup) int64 {
	var quota, period amount
	switch from.version {
	case 2:
		words := strings.Fields(readIn(from.cpu, "cpu.max"))
		if len(words) == 2 {
			quota, period = numberOf(words[0]), numberOf(words[1])
		}
	case 1:
		quota, period = numberIn(from.cpu, "cpu.cfs_quota_us"), numberIn(from.cpu, "cpu.cfs_period_us")
	}
	if !quota.known || period.value == 0 {
		return 0
	}
	return quota.value * 1000 / period.value
}

func (s *cpuSection) begin(look *Look) {
	s.before, s.at = readCPU(look.cgroup), time.Now()
	look.cpuLimit = cpuLimitOf(look.cgroup)
}

func (s *cpuSection) end(look *Look) *rules.Part {
	part, now := rules.NewPart("cpu"), readCPU(look.cgroup)
	if !now.usage.known && !now.periods.known {
		return look.blindCgroup(part)
	}
	text := "no limit"
	if look.cpuLimit > 0 {
		text = fmt.Sprintf("limit %d millicores", look.cpuLimit)
	}
	if elapsed := time.Since(s.at); now.usage.known && s.before.usage.known && elapsed > 0 {
		millicores := (now.usage.value - s.before.usage.value) * 1000 / max(1, elapsed.Microseconds())
		text = fmt.Sprintf("%d millicores in use, %s", millicores, text)
		look.amount("cpu", millicores, "in use")
		nearLimit(look, part, millicores)
	}
	throttling, told := s.throttling(look, part, now)
	text += throttling
	if !told {
		text += cpuPressure(look, part)
	}
	load, _, _ := strings.Cut(readFile(string(look.Target.FS())+"/loadavg"), " ")
	if load == "" {
		load = "unknown"
	}
	part.Section.Text = text + "; load of the node " + load
	return part
}

// nearLimit is whether the container uses nearly all that it may, throttled or not: one busy thread in a pod of one CPU is never throttled. Without a
// sample, the time between the two readings is too short to tell a burst from a load.
func nearLimit(look *Look, part *rules.Part, millicores int64) {
	if look.Settings.Sample == 0 || look.cpuLimit == 0 {
		return
	}
	// Rounded up, so that all beyond the threshold is.
	share := (millicores*100 + look.cpuLimit - 1) / look.cpuLimit
	part.Find("cpu_near_limit", float64(share), "the container uses %d%% of its CPU limit (%d of %d millicores)", share, millicores, look.cpuLimit)
}

// throttling says whether it is throttled; false where nothing counts that.
func (s *cpuSection) throttling(look *Look, part *rules.Part, now cpu) (string, bool) {
	ran, held, stood := now.periods.value-s.before.periods.value, now.throttled.value-s.before.throttled.value, now.stood.value-s.before.stood.value
	switch {
	case ran > 0:
		share := held * 100 / ran
		part.Find("cpu_throttled", float64(share), "CPU throttled in %d%% of the last periods (%d of %d, %d ms)", share, held, ran, stood)
		look.amount("share", share, "CPU throttled")
		return fmt.Sprintf(", throttled in %d%% of %d periods (%d ms)", share, ran, stood), true
	case now.periods.value > 0:
		share := now.throttled.value * 100 / now.periods.value
		part.Find("cpu_throttled_before", float64(share), "CPU throttled in %d%% of all periods since the start (%d of %d)", share, now.throttled.value, now.periods.value)
		return fmt.Sprintf(", throttled in %d%% of all periods, idle now", share), true
	}
	return "", false
}

func cpuPressure(look *Look, part *rules.Part) string {
	some, _ := pressure(look.cgroup.cpu, "cpu.pressure")
	if !some.known {
		return ""
	}
	part.Find("cpu_pressure", float64(some.value), "processes waited for a CPU %d%% of the last 10 seconds", some.value)
	return fmt.Sprintf(", pressure %d%%", some.value)
}
