package unwind

import (
	"bytes"
	"strings"
)

// stringsPiece is how much of a table of names is looked through at once.
const stringsPiece = 64 << 10

// Symbol is the address, in the process' memory, of what a program or library whose path isOf accepts calls by that name; false where none does.
func (w *Walker) Symbol(name string, isOf func(path string) bool) (uint64, bool) {
	seen := map[string]bool{}
	for _, each := range w.Maps {
		if seen[each.Path] || !strings.HasPrefix(each.Path, "/") || !isOf(each.Path) {
			continue
		}
		seen[each.Path] = true
		opened, _, inside := w.moduleAt(each.Begin)
		if opened == nil {
			continue
		}
		if address, found := opened.program.addressNamed(name); found {
			return each.Begin - inside + address, true
		}
	}
	return 0, false
}

// addressNamed looks through what the program exports, then through its own table.
func (p *program) addressNamed(name string) (uint64, bool) {
	for _, kind := range []uint32{sectionDynamic, sectionSymbols} {
		for _, table := range p.sections {
			if table.kind != kind || int(table.link) >= len(p.sections) {
				continue
			}
			if address, found := p.addressIn(table, p.placesOf(p.sections[table.link], name)); found {
				return address, true
			}
		}
	}
	return 0, false
}

// placesOf are the places at which a table of names has one.
func (p *program) placesOf(table part, name string) map[uint32]bool {
	places, wanted := map[uint32]bool{}, append([]byte(name), 0)
	for at := uint64(0); at < min(table.size, maxSymbols); at += stringsPiece {
		// With what the next piece begins with: a name may lie in both.
		data, err := piece(p.file, table.at+at, int(min(stringsPiece+uint64(len(wanted)), table.size-at)))
		if err != nil {
			break
		}
		for from := 0; ; {
			found := bytes.Index(data[from:], wanted)
			if found < 0 {
				break
			}
			places[uint32(at)+uint32(from+found)] = true
			from += found + 1
		}
	}
	return places
}

// addressIn is the address of a symbol whose name is at one of these places.
func (p *program) addressIn(table part, names map[uint32]bool) (uint64, bool) {
	if len(names) == 0 {
		return 0, false
	}
	for at := uint64(0); at < min(table.size, maxSymbols); at += symbolPiece {
		data, err := piece(p.file, table.at+at, int(min(symbolPiece, table.size-at)))
		if err != nil {
			break
		}
		for ; len(data) >= symbolSize; data = data[symbolSize:] {
			read := cursor{data: data[:symbolSize]}
			name := read.word()
			read.at = 6
			if section, address := read.short(), read.double(); names[name] && section != 0 && address != 0 {
				return address, true
			}
		}
	}
	return 0, false
}
