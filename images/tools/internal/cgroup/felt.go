package cgroup

import (
	"os"
	"strings"
	"time"
)

// Felt is what the processes of a group felt of any limit above them, also of one that is not visible from here, as the pod's. What the kernel does not
// count is not known.
type Felt struct {
	// Scanned counts the pages at which whoever needed memory looked, to take them away (version 2).
	Scanned Amount
	Stalled Stall
	// again is what was read again after it had been taken away: files, and swapped memory. Version 1 counts pages or bytes, by the kernel.
	again   Amount
	inPages bool
}

// Stall is for how long all processes of a group waited, since it began.
type Stall struct {
	Length time.Duration
	Known  bool
}

// ReadFelt reads what the group felt of a lack of memory.
func (g Group) ReadFelt() Felt {
	stat, before := Fields(g.Memory, "memory.stat"), ""
	if g.Version == 1 {
		before = "total_"
	}
	felt := Felt{Scanned: Field(stat, "pgscan_direct"), Stalled: StallOf(g.Memory, "memory.pressure"), inPages: g.Version == 2}
	// A kernel before 5.9 has one sum for both.
	for _, name := range []string{"workingset_refault_file", "workingset_refault_anon", "workingset_refault"} {
		if found := Field(stat, before+name); found.Known {
			felt.again = Amount{felt.again.Value + found.Value, true}
			felt.inPages = felt.inPages || found.Value%pageSize != 0
		}
	}
	return felt
}

var pageSize = int64(os.Getpagesize())

// ReadAgain is how many bytes were read again since an earlier reading, after the kernel had taken them away.
func (f Felt) ReadAgain(earlier Felt) Amount {
	grown := Amount{f.again.Value - earlier.again.Value, f.again.Known && earlier.again.Known && f.again.Value >= earlier.again.Value}
	if f.inPages || earlier.inPages {
		grown.Value *= pageSize
	}
	return grown
}

// Sees is whether the kernel counts anything that a lack of memory is felt by.
func (f Felt) Sees() bool { return f.again.Known || f.Stalled.Known }

// StallOf reads a file of pressure.
func StallOf(folder *os.Root, name string) Stall {
	for line := range strings.Lines(Text(folder, name)) {
		rest, full := strings.CutPrefix(line, "full ")
		_, total, found := strings.Cut(rest, "total=")
		if micros := Parse(total); full && found && micros.Known {
			return Stall{time.Duration(micros.Value) * time.Microsecond, true}
		}
	}
	return Stall{}
}

// Unlimited is whether the group's own limit is visible and there is none; a group above it may have one all the same.
func (g Group) Unlimited() bool {
	if g.Version == 2 {
		return isNoLimit(Text(g.Memory, "memory.max"))
	}
	return isNoLimit(Text(g.Memory, "memory.limit_in_bytes"))
}

// isNoLimit is whether a file of a limit says that there is none: "max", -1, and the largest number of pages that version 1 writes.
func isNoLimit(text string) bool {
	text = strings.TrimSpace(text)
	const most = 19 // digits, of 2^63 less a page
	return text == "max" || text == "-1" || len(text) == most && strings.HasPrefix(text, "92233720368547")
}

// per is an amount in a larger unit.
func (a Amount) per(unit int64) Amount { return Amount{a.Value / unit, a.Known} }
