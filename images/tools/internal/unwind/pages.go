package unwind

import "io"

const (
	pageSize = 16 << 10
	maxPages = 4
)

// pages reads a file in pages and keeps the last ones: tables are read in very little pieces, mostly side by side.
type pages struct {
	file io.ReaderAt
	kept [maxPages]page
	next int
}

type page struct {
	number int64
	data   []byte
}

func (p *pages) ReadAt(into []byte, at int64) (int, error) {
	if len(into) > pageSize {
		return p.file.ReadAt(into, at)
	}
	done := 0
	for done < len(into) {
		where := at + int64(done)
		data := p.page(where / pageSize)
		from := int(where % pageSize)
		if from >= len(data) {
			return done, io.EOF
		}
		done += copy(into[done:], data[from:])
	}
	return done, nil
}

func (p *pages) page(number int64) []byte {
	for _, each := range p.kept {
		if each.data != nil && each.number == number {
			return each.data
		}
	}
	slot := &p.kept[p.next]
	p.next = (p.next + 1) % maxPages
	if cap(slot.data) == 0 {
		slot.data = make([]byte, pageSize)
	}
	read, _ := p.file.ReadAt(slot.data[:pageSize], number*pageSize)
	slot.number, slot.data = number, slot.data[:read]
	return slot.data
}
