package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"kdebug/tools/internal/target"
)

// sample is what was measured at one second; -1 for what is not known.
type sample struct {
	at                                                  time.Time
	memory, resident, threads, files, computed, written int64
}

const (
	// kept is how many seconds are kept.
	kept = 60
	tick = 10 * time.Millisecond
)

// samples are those of the last minute.
type samples struct {
	ring       [kept]sample
	count      int
	memory     *memoryGauge
	status, io *procFile
	stat       *procFile
	folder     string
	next       time.Time
}

func newSamples(fs target.FS, pid int, memory *memoryGauge) *samples {
	return &samples{
		memory: memory, status: openProc(fs, pid, "status"), io: openProc(fs, pid, "io"), stat: openProc(fs, pid, "stat"), folder: fs.Path(pid, "fd"),
	}
}

// take takes one where a second has passed.
func (s *samples) take(now time.Time) {
	if now.Before(s.next) {
		return
	}
	s.next = now.Add(time.Second)
	taken := sample{at: now, memory: -1, files: -1, computed: ticksOf(s.stat.read())}
	if s.memory != nil {
		taken.memory = s.memory.group.Used()
	}
	status := s.status.read()
	taken.resident, taken.threads = known(number(status, "\nVmRSS:")), known(number(status, "\nThreads:"))
	taken.written = known(number(s.io.read(), "wchar:"))
	if count, is := countFiles(s.folder); is {
		taken.files = count
	}
	s.ring[s.count%kept] = taken
	s.count++
}

func known(value int64, is bool) int64 {
	if !is {
		return -1
	}
	return value
}

// ticksOf is the CPU time of /proc/PID/stat; -1 where it is not there.
func ticksOf(stat []byte) int64 {
	// The name in parentheses may hold anything. Behind it the state is the first word, and the times are the twelfth and the thirteenth.
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	const before = 11
	for range before {
		at := bytes.IndexByte(bytes.TrimLeft(rest, " "), ' ')
		if at < 0 {
			return -1
		}
		rest = bytes.TrimLeft(rest, " ")[at:]
	}
	user, is := number(rest, " ")
	rest = bytes.TrimLeft(rest, " ")
	system, too := number(rest, " ")
	if !is || !too {
		return -1
	}
	return user + system
}

// lines are the table, the oldest first.
func (s *samples) lines(now time.Time) []string {
	lines := []string{fmt.Sprintf("%9s %10s %10s %7s %7s %6s %12s", "ago", "container", "process", "threads", "files", "CPU", "written")}
	first := max(0, s.count-kept)
	for index := first; index < s.count; index++ {
		each := s.ring[index%kept]
		share, written := "-", "-"
		if index > first {
			before := s.ring[(index-1)%kept]
			if passed := each.at.Sub(before.at); passed > 0 && each.computed >= 0 && before.computed >= 0 {
				share = fmt.Sprintf("%.0f%%", 100*float64(time.Duration(each.computed-before.computed)*tick)/float64(passed))
			}
			if each.written >= 0 && before.written >= 0 {
				written = fmt.Sprintf("%d bytes", each.written-before.written)
			}
		}
		lines = append(lines, fmt.Sprintf("%8.1fs %10s %10s %7s %7s %6s %12s",
			now.Sub(each.at).Seconds(), sizeOr(each.memory), sizeOr(each.resident<<10), countOr(each.threads), countOr(each.files), share, written))
	}
	return lines
}

func sizeOr(bytes int64) string {
	if bytes < 0 {
		return "-"
	}
	return strings.Replace(size(bytes), " ", "", 1)
}

func countOr(count int64) string {
	if count < 0 {
		return "-"
	}
	return fmt.Sprint(count)
}
