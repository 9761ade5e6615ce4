package diagnose

import (
	"fmt"
	"strings"
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/thread"
)

// cpuSection reads the CPU of the target's cgroup, over the sample.
type cpuSection struct {
	before cgroup.CPU
	at     time.Time
	delays delays
	quota  quota
}

func (s *cpuSection) begin(look *Look) {
	s.delays = readDelays(look)
	s.before, s.at = look.cgroup.ReadCPU(), time.Now()
	s.quota = quota{limit: look.cgroup.CPULimit(), ours: ownCPU(), stalled: cgroup.StallOf(look.cgroup.CPU, "cpu.pressure")}
	look.cpuLimit = s.quota.limit.Value
}

func (s *cpuSection) end(look *Look) *rules.Part {
	part, now := rules.NewPart("cpu"), look.cgroup.ReadCPU()
	if !now.Usage.Known && !now.Periods.Known {
		return look.blindCgroup(part)
	}
	text := "a limit is not visible"
	switch {
	case look.cpuLimit > 0:
		text = fmt.Sprintf("limit %d millicores", look.cpuLimit)
	case s.quota.limit.Known:
		text = "no limit of its own"
	}
	elapsed := time.Since(s.at)
	used := "what is in use is not visible"
	if now.Usage.Known && s.before.Usage.Known {
		used = "too short a time to tell what is in use"
	}
	if now.Usage.Known && s.before.Usage.Known && elapsed >= thread.Least {
		millicores := (now.Usage.Value - s.before.Usage.Value) * 1000 / max(1, elapsed.Microseconds())
		used = fmt.Sprintf("%d millicores in use", millicores)
		look.amount("cpu", millicores, "in use")
		nearLimit(look, part, millicores)
	}
	throttling, told := s.throttling(look, part, now)
	text = used + ", " + text + throttling
	if !told {
		text += cpuPressure(look, part)
	}
	s.delays.findStarved(look, part, elapsed, s.quota.since(now.Usage, s.before.Usage, cgroup.StallOf(look.cgroup.CPU, "cpu.pressure"), elapsed))
	load, _, _ := strings.Cut(readFile(string(look.Target.FS())+"/loadavg"), " ")
	if load == "" {
		load = "unknown"
	}
	part.Section.Text = text + "; load of the node " + load
	return part
}

// minPeriods is a minute of running. The kernel counts a period only while something runs, so fewer are the start of an idle program, and every start
// under a limit is throttled.
const minPeriods = 600

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
func (s *cpuSection) throttling(look *Look, part *rules.Part, now cgroup.CPU) (string, bool) {
	ran, held, stood := now.Periods.Value-s.before.Periods.Value, now.Throttled.Value-s.before.Throttled.Value, now.Stood.Value-s.before.Stood.Value
	switch {
	case ran > 0:
		share := held * 100 / ran
		part.Find("cpu_throttled", float64(share), "CPU throttled in %d%% of the last periods (%d of %d, %d ms)", share, held, ran, stood)
		look.amount("share", share, "CPU throttled")
		return fmt.Sprintf(", throttled in %d%% of %d periods (%d ms)", share, ran, stood), true
	case now.Periods.Value > 0:
		share := now.Throttled.Value * 100 / now.Periods.Value
		if now.Periods.Value >= minPeriods {
			part.Find("cpu_throttled_before", float64(share), "CPU throttled in %d%% of all periods since the start (%d of %d)", share, now.Throttled.Value, now.Periods.Value)
		}
		return fmt.Sprintf(", throttled in %d%% of all periods, idle now", share), true
	}
	return "", false
}

func cpuPressure(look *Look, part *rules.Part) string {
	some, _ := cgroup.Pressure(look.cgroup.CPU, "cpu.pressure")
	if !some.Known {
		return ", pressure is not visible"
	}
	part.Find("cpu_pressure", float64(some.Value), "processes waited for a CPU %d%% of the last 10 seconds", some.Value)
	return fmt.Sprintf(", pressure %d%%", some.Value)
}
