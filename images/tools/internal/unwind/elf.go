package unwind

import (
	"io"
	"strings"
)

// part is a piece of a program, in its file and where it wants to be in memory.
type part struct {
	name         string
	kind         uint32
	at, address  uint64
	size         uint64
	link, strLen uint32
}

// program is an ELF file of 64 bits. Not debug/elf, which reads whole tables into memory.
type program struct {
	file     io.ReaderAt
	loads    []part
	ehHeader part
	sections []part
	entry    uint64
	// entries are those of .eh_frame where it has no table, once they were read.
	entries  []listed
	isListed bool
}

const (
	headerSize, segmentSize, sectionSize = 64, 56, 64
	maxSegments, maxSections             = 128, 512
	segmentLoad, segmentEhHeader         = 1, 0x6474e550
	sectionSymbols, sectionDynamic       = 2, 11
	maxNames                             = 64 << 10
)

func readProgram(file io.ReaderAt) (*program, error) {
	data, err := piece(file, 0, headerSize)
	if err != nil {
		return nil, err
	}
	if len(data) < headerSize || string(data[:6]) != "\x7fELF\x02\x01" {
		return nil, errShort
	}
	head := cursor{data: data, at: 24}
	read := &program{file: file, entry: head.double()}
	segments, sections := head.double(), head.double()
	head.at = 56
	segmentCount := int(head.short())
	head.at = 60
	sectionCount, names := int(head.short()), int(head.short())
	read.readSegments(segments, min(segmentCount, maxSegments))
	read.readSections(sections, min(sectionCount, maxSections), names)
	return read, nil
}

func (p *program) readSegments(at uint64, count int) {
	data, err := piece(p.file, at, count*segmentSize)
	if err != nil {
		return
	}
	for ; len(data) >= segmentSize; data = data[segmentSize:] {
		read := cursor{data: data}
		kind := read.word()
		read.at = 8
		offset, address := read.double(), read.double()
		read.at = 32
		each := part{kind: kind, at: offset, address: address, size: read.double()}
		switch kind {
		case segmentLoad:
			p.loads = append(p.loads, each)
		case segmentEhHeader:
			p.ehHeader = each
		}
	}
}

func (p *program) readSections(at uint64, count, names int) {
	data, err := piece(p.file, at, count*sectionSize)
	if err != nil || at == 0 {
		return
	}
	var nameAt []uint32
	for ; len(data) >= sectionSize; data = data[sectionSize:] {
		read := cursor{data: data}
		nameAt = append(nameAt, read.word())
		kind := read.word()
		read.at = 16
		each := part{kind: kind, address: read.double(), at: read.double(), size: read.double(), link: read.word()}
		p.sections = append(p.sections, each)
	}
	if names >= len(p.sections) {
		return
	}
	table, err := piece(p.file, p.sections[names].at, int(min(p.sections[names].size, maxNames)))
	if err != nil {
		return
	}
	for index := range p.sections {
		if begin := int(nameAt[index]); begin < len(table) {
			name, _, _ := strings.Cut(string(table[begin:min(len(table), begin+64)]), "\x00")
			p.sections[index].name = name
		}
	}
}

func (p *program) section(name string) (part, bool) {
	for _, each := range p.sections {
		if each.name == name {
			return each, true
		}
	}
	return part{}, false
}

// addressOf is where a place of the file wants to be in memory.
func (p *program) addressOf(offset uint64) (uint64, bool) {
	// The kernel maps whole pages, also a part of the page before.
	const page = 1<<16 - 1
	for _, each := range p.loads {
		if offset >= each.at && offset < each.at+each.size {
			return each.address + offset - each.at, true
		}
	}
	for _, each := range p.loads {
		if offset >= each.at&^uint64(page) && offset < each.at+each.size {
			return each.address - (each.at - offset), true
		}
	}
	return 0, false
}

// at reads what is at an address.
func (p *program) at(address uint64, size int) ([]byte, error) {
	for _, each := range p.loads {
		if address >= each.address && address < each.address+each.size {
			size = int(min(uint64(size), each.address+each.size-address))
			return piece(p.file, each.at+address-each.address, size)
		}
	}
	return nil, errShort
}
