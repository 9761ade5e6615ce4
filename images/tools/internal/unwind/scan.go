package unwind

import (
	"cmp"
	"slices"
)

const (
	// maxScanned bounds the bytes of .eh_frame that are read where it has no table, and maxListed the entries that are kept.
	maxScanned = 16 << 20
	maxListed  = 200_000
)

// listed is an entry of .eh_frame: where its function begins, and where the entry is.
type listed struct{ begin, place uint64 }

// scan finds the entry of an address in .eh_frame itself, which is read once: a static program may have no table of it.
func (p *program) scan(address uint64) (*entry, bool) {
	if !p.isListed {
		p.list()
	}
	index, exact := slices.BinarySearchFunc(p.entries, address, func(each listed, address uint64) int { return cmp.Compare(each.begin, address) })
	if !exact {
		index--
	}
	if index < 0 {
		return nil, false
	}
	found, ok := p.entryAt(p.entries[index].place, 0)
	return found, ok && address >= found.begin && address < found.end
}

func (p *program) list() {
	p.isListed = true
	section, found := p.section(".eh_frame")
	if !found {
		return
	}
	forms := map[uint64]byte{}
	for at := uint64(0); at+4 < min(section.size, maxScanned) && len(p.entries) < maxListed; {
		data, err := piece(p.file, section.at+at, 16)
		if err != nil || len(data) < 16 {
			break
		}
		read := cursor{data: data, base: section.address + at}
		size, back := read.word(), read.word()
		if size == 0 {
			break
		}
		// Without a number of how far back its CIE is, it is a CIE.
		if back != 0 {
			form := p.formOf(forms, section.address+at+4-uint64(back))
			if begin := read.pointer(form, 0); !read.bad {
				p.entries = append(p.entries, listed{begin, section.address + at})
			}
		}
		at += 4 + uint64(size)
	}
	slices.SortFunc(p.entries, func(a, b listed) int { return cmp.Compare(a.begin, b.begin) })
}

// formOf is how the entries of a CIE write addresses.
func (p *program) formOf(forms map[uint64]byte, common uint64) byte {
	form, known := forms[common]
	if known {
		return form
	}
	if read, ok := p.record(common); ok {
		form, _, _ = (&entry{}).readCommon(read)
	}
	if len(forms) < maxListed {
		forms[common] = form
	}
	return form
}
