package unwind

import "strings"

// entry says how to unwind a function: the FDE of .eh_frame with its CIE.
type entry struct {
	begin, end   uint64
	code         uint64
	data         int64
	returnColumn uint64
	isSignal     bool
	// initial and program are the instructions.
	initial, program cursor
}

const (
	maxEntry = 64 << 10
	rowSize  = 8
	// formTable is how the table of .eh_frame_hdr is written by all linkers: 4 bytes, signed, from its begin on.
	formTable = relativeData | formSigned4
)

// find finds the entry of an address by the sorted table of .eh_frame_hdr.
func (p *program) find(address uint64) (*entry, bool) {
	if p.ehHeader.size == 0 {
		return p.scan(address)
	}
	base := p.ehHeader.address
	data, err := p.at(base, 32)
	if err != nil || len(data) < 12 {
		return nil, false
	}
	head := cursor{data: data, base: base}
	head.byte()
	frameForm, countForm, tableForm := head.byte(), head.byte(), head.byte()
	head.pointer(frameForm, base)
	count := head.pointer(countForm, base)
	if head.bad || tableForm != formTable {
		return nil, false
	}
	table := base + uint64(head.at)
	low, high := uint64(0), min(count, 1<<24)
	for low+1 < high {
		middle := low + (high-low)/2
		if begin, _, ok := p.row(table, middle, base); !ok {
			return nil, false
		} else if begin <= address {
			low = middle
		} else {
			high = middle
		}
	}
	begin, place, ok := p.row(table, low, base)
	if !ok || begin > address {
		return nil, false
	}
	found, ok := p.entryAt(place, base)
	return found, ok && address >= found.begin && address < found.end
}

func (p *program) row(table, index, base uint64) (begin, place uint64, ok bool) {
	data, err := p.at(table+index*rowSize, rowSize)
	if err != nil || len(data) < rowSize {
		return 0, 0, false
	}
	read := cursor{data: data}
	return base + uint64(int32(read.word())), base + uint64(int32(read.word())), true
}

// record reads a CIE or FDE without its length.
func (p *program) record(address uint64) (cursor, bool) {
	data, err := p.at(address, 4)
	if err != nil || len(data) < 4 {
		return cursor{}, false
	}
	head := cursor{data: data}
	size := head.word()
	if size == 0 || size > maxEntry {
		return cursor{}, false
	}
	data, err = p.at(address+4, int(size))
	return cursor{data: data, base: address + 4}, err == nil && len(data) == int(size)
}

func (p *program) entryAt(address, base uint64) (*entry, bool) {
	read, ok := p.record(address)
	if !ok {
		return nil, false
	}
	back := read.word()
	common, ok := p.record(read.base - uint64(back))
	if !ok || back == 0 {
		return nil, false
	}
	found := &entry{}
	form, augmented, ok := found.readCommon(common)
	if !ok {
		return nil, false
	}
	found.begin = read.pointer(form, base)
	found.end = found.begin + read.pointer(form&formMask, 0)
	if augmented {
		read.take(int(min(read.number(), maxEntry)))
	}
	found.program = read
	return found, !read.bad
}

// readCommon reads the CIE: the form of addresses, and whether entries have data of the language.
func (e *entry) readCommon(read cursor) (form byte, augmented, ok bool) {
	if read.word() != 0 {
		return 0, false, false
	}
	version := read.byte()
	words, _, _ := strings.Cut(string(read.data[min(read.at, len(read.data)):]), "\x00")
	read.take(len(words) + 1)
	e.code, e.data = read.number(), read.signed()
	if version == 1 {
		e.returnColumn = uint64(read.byte())
	} else {
		e.returnColumn = read.number()
	}
	augmented = strings.HasPrefix(words, "z")
	if augmented {
		read.number()
	}
	for _, letter := range strings.TrimPrefix(words, "z") {
		switch letter {
		case 'R':
			form = read.byte()
		case 'P':
			read.pointer(read.byte()&formMask, 0)
		case 'L':
			read.byte()
		case 'S':
			e.isSignal = true
		}
	}
	e.initial = read
	return form, augmented, !read.bad
}
