package unwind

// maxScanned bounds the bytes of .eh_frame that are read where it has no table.
const maxScanned = 16 << 20

// scan finds the entry of an address in .eh_frame itself: a static program may have no table of it.
func (p *program) scan(address uint64) (*entry, bool) {
	section, found := p.section(".eh_frame")
	if !found {
		return nil, false
	}
	for at := uint64(0); at+4 < min(section.size, maxScanned); {
		data, err := piece(p.file, section.at+at, 8)
		if err != nil || len(data) < 8 {
			return nil, false
		}
		read := cursor{data: data}
		size, back := read.word(), read.word()
		if size == 0 {
			return nil, false
		}
		// Without a number of how far back its CIE is, it is a CIE.
		if back != 0 {
			entry, ok := p.entryAt(section.address+at, 0)
			if ok && address >= entry.begin && address < entry.end {
				return entry, true
			}
		}
		at += 4 + uint64(size)
	}
	return nil, false
}
