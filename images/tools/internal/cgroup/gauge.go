package cgroup

import (
	"bytes"
	"os"

	"kdebug/tools/internal/target"
)

// Gauge reads a group's memory again and again: its files stay open, and to read allocates nothing.
type Gauge struct {
	usage, limit, stat *os.File
	// inactive is what the line begins with that has the cache that is easily freed.
	inactive []byte
	data     [gaugeSize]byte
}

// gaugeSize: memory.stat has up to 3 KiB.
const gaugeSize = 8 << 10

// Gauge opens one; nil where the group's memory is not readable. Close it.
func (g Group) Gauge() *Gauge {
	names := []string{"memory.usage_in_bytes", "memory.limit_in_bytes", "total_inactive_file "}
	if g.Version == 2 {
		names = []string{"memory.current", "memory.max", "inactive_file "}
	}
	if g.Memory == nil {
		return nil
	}
	opened := &Gauge{inactive: []byte(names[2])}
	var err error
	if opened.usage, err = target.OpenRegular(g.Memory, names[0]); err != nil {
		return nil
	}
	opened.limit, _ = target.OpenRegular(g.Memory, names[1])
	opened.stat, _ = target.OpenRegular(g.Memory, "memory.stat")
	return opened
}

// Close closes its files.
func (g *Gauge) Close() {
	for _, file := range []*os.File{g.usage, g.limit, g.stat} {
		if file != nil {
			file.Close()
		}
	}
}

// Used is what is in use, with the cache of files; -1 where it is not known.
func (g *Gauge) Used() int64 { return whole(g.read(g.usage)) }

// Limit is the group's limit; -1 without one.
func (g *Gauge) Limit() int64 { return whole(g.read(g.limit)) }

// Inactive is the cache that is easily freed, a part of Used: the kernel frees it before it kills.
func (g *Gauge) Inactive() int64 {
	for text := g.read(g.stat); len(text) > 0; {
		line, rest, _ := bytes.Cut(text, newline)
		if number, found := bytes.CutPrefix(line, g.inactive); found {
			return max(0, whole(number))
		}
		text = rest
	}
	return 0
}

var newline = []byte{'\n'}

func (g *Gauge) read(file *os.File) []byte {
	if file == nil {
		return nil
	}
	size, _ := file.ReadAt(g.data[:], 0)
	return g.data[:size]
}

// whole is a number without a sign; -1 for every other text.
func whole(text []byte) int64 {
	text = bytes.TrimSpace(text)
	const most = 18 // digits; one more may not fit, and is what version 1 writes without a limit
	if len(text) == 0 || len(text) > most {
		return -1
	}
	value := int64(0)
	for _, digit := range text {
		if digit < '0' || digit > '9' {
			return -1
		}
		value = value*10 + int64(digit-'0')
	}
	return value
}
