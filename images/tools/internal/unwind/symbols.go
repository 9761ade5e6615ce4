package unwind

import (
	"slices"
	"strings"
)

const (
	symbolSize  = 24
	symbolPiece = 4096 * symbolSize
	// maxSymbols bounds the bytes of a table that are looked through.
	maxSymbols = 64 << 20
	maxName    = 512
	// aside is how far behind the last symbol an address may be that a table without sizes names.
	aside = 1 << 20
)

// named is the best symbol so far for one address.
type named struct {
	address     uint64
	begin, size uint64
	name        uint32
	found       bool
}

// symbols names the functions at addresses of a program, by its own table or the one of what it exports, each read once. One that neither
// names, and all of a table that was not read in time, are left out.
func (p *program) symbols(addresses []uint64, isLate func() bool) map[uint64]Frame {
	names := map[uint64]Frame{}
	for _, kind := range []uint32{sectionSymbols, sectionDynamic} {
		for _, table := range p.sections {
			if table.kind != kind || int(table.link) >= len(p.sections) {
				continue
			}
			p.search(table, p.sections[table.link], addresses, names, isLate)
		}
	}
	return names
}

func (p *program) search(table, strings part, addresses []uint64, names map[uint64]Frame, isLate func() bool) {
	var wanted []named
	for _, each := range addresses {
		if _, known := names[each]; !known {
			wanted = append(wanted, named{address: each})
		}
	}
	if len(wanted) == 0 {
		return
	}
	slices.SortFunc(wanted, func(a, b named) int {
		if a.address < b.address {
			return -1
		}
		return 1
	})
	for at := uint64(0); at < min(table.size, maxSymbols); at += symbolPiece {
		if isLate() {
			return
		}
		data, err := piece(p.file, table.at+at, int(min(symbolPiece, table.size-at)))
		if err != nil {
			return
		}
		for ; len(data) >= symbolSize; data = data[symbolSize:] {
			consider(data[:symbolSize], wanted)
		}
	}
	for _, each := range wanted {
		if !each.found || each.size == 0 && each.address-each.begin > aside {
			continue
		}
		if name := p.text(strings, each.name); name != "" {
			names[each.address] = Frame{Function: readable(name), Plus: each.address - each.begin}
		}
	}
}

// consider takes a symbol for the addresses that it holds.
func consider(data []byte, wanted []named) {
	read := cursor{data: data}
	name, info := read.word(), read.byte()
	read.at = 6
	section, begin, size := read.short(), read.double(), read.double()
	const function, any, indirect = 2, 0, 10
	if kind := info & 0xf; kind != function && kind != any && kind != indirect || section == 0 || begin == 0 {
		return
	}
	from, _ := slices.BinarySearchFunc(wanted, begin, func(each named, begin uint64) int {
		if each.address < begin {
			return -1
		}
		return 1
	})
	for index := from; index < len(wanted); index++ {
		each := &wanted[index]
		if size > 0 && each.address >= begin+size || size == 0 && each.address-begin > aside {
			return
		}
		if each.found && (each.size > 0 && size == 0 || begin < each.begin && (size > 0) == (each.size > 0)) {
			continue
		}
		*each = named{each.address, begin, size, name, true}
	}
}

func (p *program) text(table part, at uint32) string {
	data, err := piece(p.file, table.at+uint64(at), maxName)
	if err != nil || uint64(at) >= table.size {
		return ""
	}
	name, _, _ := strings.Cut(string(data), "\x00")
	return name
}
