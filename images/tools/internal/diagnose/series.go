package diagnose

import (
	"time"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
)

const (
	// readings is how often what moves is read within the sample.
	readings = 10
	// fewReadings tell nothing.
	fewReadings = 3
)

// chart is what moves while we look: a chart of it tells a burst from a steady load, which the difference between the sample's two ends does not.
type chart struct{ cpu, throttled, memory [][2]int64 }

// readSeries begins to read, up to ten times within the sample; the function that it gives ends that and gives the series. Without a sample or a
// cgroup there are none.
func (l *Look) readSeries() func() []report.Series {
	if l.Settings.Sample == 0 || l.cgroup.Version == 0 {
		return func() []report.Series { return nil }
	}
	stop, done := make(chan struct{}), make(chan chart)
	go func() { done <- watchCgroup(l.cgroup, l.Settings.Sample/readings, stop) }()
	return func() []report.Series {
		close(stop)
		return (<-done).series(l.cpuLimit, l.memoryLimit)
	}
}

// watchCgroup takes readings until it is told to stop.
func watchCgroup(from cgroup.Group, every time.Duration, stop <-chan struct{}) chart {
	var read chart
	began := time.Now()
	last, at := from.ReadCPU(), began
	for range readings {
		select {
		case <-stop:
			return read
		// Not a ticker: two points must lie a tenth of a second apart at least.
		case <-time.After(every):
		}
		now, used, passed := from.ReadCPU(), from.ReadMemory(), time.Since(at).Microseconds()
		at = time.Now()
		when := at.Sub(began).Milliseconds()
		if now.Usage.Known && last.Usage.Known && now.Usage.Value >= last.Usage.Value && passed > 0 {
			read.cpu = append(read.cpu, [2]int64{when, (now.Usage.Value - last.Usage.Value) * 1000 / passed})
		}
		if ran := now.Periods.Value - last.Periods.Value; last.Periods.Known && ran > 0 {
			read.throttled = append(read.throttled, [2]int64{when, (now.Throttled.Value - last.Throttled.Value) * 100 / ran})
		}
		if used.Used.Known {
			read.memory = append(read.memory, [2]int64{when, used.Working()})
		}
		last = now
	}
	<-stop
	return read
}

func (c chart) series(cpuLimit, memoryLimit int64) []report.Series {
	var all []report.Series
	add := func(section, unit, text string, limit int64, points [][2]int64) {
		if len(points) < fewReadings {
			return
		}
		line := report.Series{Section: section, Text: text, Unit: unit, Points: points}
		if limit > 0 {
			line.Limit = &limit
		}
		all = append(all, line)
	}
	add("cpu", "millicores", "CPU in use", cpuLimit, c.cpu)
	add("cpu", "%", "Throttled periods", 0, c.throttled)
	add("memory", "bytes", "Memory in use", memoryLimit, c.memory)
	return all
}
