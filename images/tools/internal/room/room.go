// Package room says whether a target has the memory and the CPU that a look into it takes: its container must not be killed for it.
package room

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/target"
)

// Needed is what Flight Recorder or V8's profiler may take of the target's memory, in bytes: what they took in a Tomcat and an express, rounded up.
const Needed = 20 << 20

// Memory is that of the target's container, in bytes. Used is without what the kernel can take back at once.
type Memory struct{ Limit, Used int64 }

// open opens a file of the target's /sys/fs/cgroup.
type open func(name string) (io.ReadCloser, error)

func of(t *target.Target) open {
	return func(name string) (io.ReadCloser, error) { return t.Open("/sys/fs/cgroup/" + name) }
}

// MemoryOf reads the target's cgroup, of version 2 or 1. False where it has no limit, or may not be read.
func MemoryOf(t *target.Target) (Memory, bool) { return memoryOf(of(t)) }

func memoryOf(open open) (Memory, bool) {
	for _, names := range [][4]string{
		{"memory.max", "memory.current", "memory.stat", "inactive_file"},
		{"memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"},
	} {
		limit, limited := number(open, names[0])
		used, known := number(open, names[1])
		// Version 1 says its largest number where there is no limit.
		if !limited || !known || limit > math.MaxInt64/2 {
			continue
		}
		return Memory{limit, max(0, used-fields(open, names[2])[names[3]])}, true
	}
	return Memory{}, false
}

// Free is what is left, in bytes; never below 0.
func (m Memory) Free() int64 { return max(0, m.Limit-m.Used) }

// Lack says that the target's container has less memory left than what asks for it needs; nil if it has enough, or nobody can tell.
func Lack(t *target.Target, who string) *target.Lack {
	memory, known := MemoryOf(t)
	if !known {
		return nil
	}
	return memory.lack(who)
}

func (m Memory) lack(who string) *target.Lack {
	if m.Free() >= Needed {
		return nil
	}
	return &target.Lack{Lacks: fmt.Sprintf("memory: %s may take %d MiB, and the container has %d of its %d MiB left", who, Needed>>20, m.Free()>>20, m.Limit>>20)}
}

// periods is how long it is watched whether a container is throttled: three periods of the kernel's default.
const periods = 300 * time.Millisecond

// Slow is what to say before a look into a target whose container has used up its CPU limit: the look lives on the same limit of the pod. "" where it
// has not, or nobody can tell. It takes 0.3 s.
func Slow(ctx context.Context, t *target.Target) string {
	return slow(of(t), func() {
		select {
		case <-ctx.Done():
		case <-time.After(periods):
		}
	})
}

func slow(open open, wait func()) string {
	read := func() (all, throttled int64) {
		for _, name := range []string{"cpu.stat", "cpu/cpu.stat"} {
			if found := fields(open, name); found["nr_periods"] > 0 {
				return found["nr_periods"], found["nr_throttled"]
			}
		}
		return 0, 0
	}
	before, throttledBefore := read()
	if before == 0 {
		return ""
	}
	wait()
	all, throttled := read()
	if throttled-throttledBefore < 1 || 2*(throttled-throttledBefore) < all-before {
		return ""
	}
	return "This look will be slow: the container has used up its CPU limit" + limit(open) + ", and the look lives on the limit of the same pod."
}

// limit is the CPU limit in words, as " of 500 m".
func limit(open open) string {
	var quota, period int64
	if text := strings.Fields(text(open, "cpu.max")); len(text) == 2 {
		quota, _ = strconv.ParseInt(text[0], 10, 64)
		period, _ = strconv.ParseInt(text[1], 10, 64)
	} else {
		quota, _ = number(open, "cpu/cpu.cfs_quota_us")
		period, _ = number(open, "cpu/cpu.cfs_period_us")
	}
	if quota <= 0 || period <= 0 {
		return ""
	}
	return fmt.Sprintf(" of %d m", quota*1000/period)
}

func number(open open, name string) (int64, bool) {
	value, err := strconv.ParseInt(strings.TrimSpace(text(open, name)), 10, 64)
	return value, err == nil
}

// fields reads lines as "inactive_file 4096".
func fields(open open, name string) map[string]int64 {
	found := map[string]int64{}
	for line := range strings.Lines(text(open, name)) {
		if words := strings.Fields(line); len(words) == 2 {
			found[words[0]], _ = strconv.ParseInt(words[1], 10, 64)
		}
	}
	return found
}

func text(open open, name string) string {
	file, err := open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	content, _ := io.ReadAll(io.LimitReader(file, 64*1024))
	return string(content)
}
