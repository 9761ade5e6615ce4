package pyframes

// The ways in which an entry of a table of lines is written (CPython, Objects/locations.md).
const (
	withoutLine, whole, withoutColumn = 15, 14, 13
	oneLine, lastOneLine              = 10, 12
	// unit is the size of an instruction in bytes.
	unit = 2
)

// lineAt is the line of an instruction; that of the function where the table does not say.
func (c *code) lineAt(instruction uint64) int {
	inside := uint64(0)
	if instruction > c.instructions {
		inside = instruction - c.instructions
	}
	line, begin := c.firstLine, uint64(0)
	table := &table{c.lines}
	for len(table.data) > 0 {
		head := table.next()
		end, kind := begin+unit*uint64(head&7+1), head>>3&15
		delta, columns := 0, 1
		switch {
		case kind == withoutLine:
			columns = 0
		case kind == whole:
			delta, columns = table.signed(), 0
			// The last line and both columns.
			_, _, _ = table.number(), table.number(), table.number()
		case kind == withoutColumn:
			delta, columns = table.signed(), 0
		case kind >= oneLine && kind <= lastOneLine:
			delta, columns = int(kind-oneLine), 2
		}
		for range columns {
			table.next()
		}
		line += delta
		if inside >= begin && inside < end {
			if kind == withoutLine {
				return c.firstLine
			}
			return line
		}
		begin = end
	}
	return c.firstLine
}

// table reads numbers of six bits a byte.
type table struct{ data []byte }

func (t *table) next() byte {
	if len(t.data) == 0 {
		return 0
	}
	first := t.data[0]
	t.data = t.data[1:]
	return first
}

func (t *table) number() int {
	value := 0
	for shift := 0; shift < 30; shift += 6 {
		next := t.next()
		value |= int(next&63) << shift
		if next&64 == 0 {
			break
		}
	}
	return value
}

func (t *table) signed() int {
	value := t.number()
	if value&1 == 1 {
		return -(value >> 1)
	}
	return value >> 1
}
