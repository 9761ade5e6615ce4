package unwind

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
)

// goTable is the table of functions that each Go program of Go 1.18 or later has, also a stripped one. Read in little pieces.
type goTable struct {
	file                                  io.ReaderAt
	at, size                              uint64
	text                                  uint64
	count                                 uint64
	names, units, files, lines, functions uint64
	quantum                               uint64
}

const (
	magic118, magic120  = 0xfffffff0, 0xfffffff1
	goHeader, goPointer = 72, 8
	goFunction          = 44
	maxCurve            = 16 << 10
)

// goTableOf finds the table; nil where there is none, or of an older form.
func (p *program) goTableOf() *goTable {
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		section, found := p.section(name)
		if !found {
			continue
		}
		data, err := piece(p.file, section.at, goHeader)
		if err != nil || len(data) < goHeader {
			return nil
		}
		read := cursor{data: data}
		magic := read.word()
		read.at = 6
		quantum, pointer := read.byte(), read.byte()
		if magic != magic118 && magic != magic120 || pointer != goPointer || quantum == 0 {
			return nil
		}
		table := &goTable{file: p.file, at: section.at, size: section.size, quantum: uint64(quantum), count: read.double()}
		read.double()
		read.double()
		table.names, table.units, table.files, table.lines, table.functions = read.double(), read.double(), read.double(), read.double(), read.double()
		table.text = p.goText()
		return table
	}
	return nil
}

// goText is where Go's own functions begin (runtime.text): for a program that C is linked into too, behind the begin of the section.
func (p *program) goText() uint64 {
	text, _ := p.section(".text")
	for _, each := range p.sections {
		if each.kind != sectionSymbols || int(each.link) >= len(p.sections) {
			continue
		}
		if begin, found := p.valueOf(each, p.sections[each.link], "\x00runtime.text\x00"); found {
			return begin
		}
	}
	return text.address
}

// valueOf is the address of a symbol; its name has its zeros around it. The name is looked for first: there are fewer bytes of names than pieces to read.
func (p *program) valueOf(table, strings part, name string) (uint64, bool) {
	wanted, found := p.placeOf(strings, name)
	if !found {
		return 0, false
	}
	for at := uint64(0); at < min(table.size, maxSymbols); at += symbolPiece {
		data, err := piece(p.file, table.at+at, int(min(symbolPiece, table.size-at)))
		if err != nil {
			return 0, false
		}
		for ; len(data) >= symbolSize; data = data[symbolSize:] {
			read := cursor{data: data[:symbolSize]}
			where := read.word()
			read.at = 8
			if where == wanted {
				return read.double(), true
			}
		}
	}
	return 0, false
}

// placeOf is where a name begins in a table of names.
func (p *program) placeOf(table part, name string) (uint32, bool) {
	for at := uint64(0); at < min(table.size, maxSymbols); at += symbolPiece {
		// A name may be cut by the end of a piece.
		data, err := piece(p.file, table.at+at, int(min(symbolPiece+uint64(len(name)), table.size-at)))
		if err != nil {
			return 0, false
		}
		if found := bytes.Index(data, []byte(name)); found >= 0 {
			return uint32(at) + uint32(found) + 1, true
		}
	}
	return 0, false
}

// goFunc is one function of the table.
type goFunc struct {
	table      *goTable
	begin, end uint64
	name       string
	// depths, files and lines are where the curves over its instructions are; unit is the file's number of its package.
	depths, files, lines, unit uint64
}

// find finds the function at an address.
func (t *goTable) find(address uint64) (goFunc, bool) {
	if t == nil || address < t.text || t.count == 0 || t.count > 1<<24 {
		return goFunc{}, false
	}
	offset := address - t.text
	low, high := uint64(0), t.count
	for low+1 < high {
		middle := low + (high-low)/2
		if begin, _, ok := t.row(middle); !ok {
			return goFunc{}, false
		} else if begin <= offset {
			low = middle
		} else {
			high = middle
		}
	}
	begin, place, ok := t.row(low)
	end, _, too := t.row(low + 1)
	if !ok || !too || offset < begin || offset >= end {
		return goFunc{}, false
	}
	data, err := t.read(t.functions+place, goFunction)
	if err != nil || len(data) < goFunction {
		return goFunc{}, false
	}
	read := cursor{data: data, at: 4}
	nameAt := read.word()
	read.at = 16
	found := goFunc{table: t, begin: begin + t.text, end: end + t.text, name: t.text0(t.names + uint64(nameAt))}
	found.depths, found.files, found.lines = uint64(read.word()), uint64(read.word()), uint64(read.word())
	read.word()
	found.unit = uint64(read.word())
	return found, found.name != ""
}

func (t *goTable) row(index uint64) (begin, place uint64, ok bool) {
	data, err := t.read(t.functions+index*8, 8)
	if err != nil || len(data) < 4 {
		return 0, 0, false
	}
	begin = uint64(binary.LittleEndian.Uint32(data))
	if len(data) == 8 {
		place = uint64(binary.LittleEndian.Uint32(data[4:]))
	}
	return begin, place, true
}

func (t *goTable) read(at uint64, size int) ([]byte, error) {
	if at >= t.size {
		return nil, errShort
	}
	return piece(t.file, t.at+at, int(min(uint64(size), t.size-at)))
}

func (t *goTable) text0(at uint64) string {
	data, err := t.read(at, maxName)
	if err != nil {
		return ""
	}
	text, _, _ := strings.Cut(string(data), "\x00")
	return text
}

// curve is the value at an address of a function, of a table of differences; false where there is none.
func (f goFunc) curve(at, address uint64) (int64, bool) {
	if at == 0 {
		return 0, false
	}
	data, err := f.table.read(f.table.lines+at, maxCurve)
	if err != nil {
		return 0, false
	}
	read, place, value := cursor{data: data}, f.begin, int64(-1)
	for first := true; read.more(); first = false {
		step := uint32(read.number())
		if step == 0 && !first {
			return 0, false
		}
		// The lowest bit is the sign.
		if step&1 != 0 {
			value += int64(int32(^(step >> 1)))
		} else {
			value += int64(step >> 1)
		}
		if place += uint64(uint32(read.number())) * f.table.quantum; address < place {
			return value, true
		}
	}
	return 0, false
}

// depth is how far the stack pointer is below the frame's begin.
func (f goFunc) depth(address uint64) (uint64, bool) {
	value, found := f.curve(f.depths, address)
	return uint64(value), found && value >= 0
}

// source is the file and line.
func (f goFunc) source(address uint64) (string, int) {
	number, found := f.curve(f.files, address)
	line, too := f.curve(f.lines, address)
	if !found || !too || number < 0 {
		return "", 0
	}
	data, err := f.table.read(f.table.units+4*(f.unit+uint64(number)), 4)
	if err != nil || len(data) < 4 {
		return "", 0
	}
	return f.table.text0(f.table.files + uint64(binary.LittleEndian.Uint32(data))), int(line)
}
