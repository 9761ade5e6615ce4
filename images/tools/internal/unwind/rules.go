package unwind

import (
	"slices"
)

// rule is how a register of the caller is found.
type rule struct {
	how   how
	value int64
	words []byte
}

type how byte

const (
	same how = iota
	lost
	// saved at the frame's address plus value; plain is that address itself.
	saved
	plain
	copied
	// computed gives the place, computedValue the value.
	computed
	computedValue
)

// rules are those of one address: the frame's address (CFA), and each register.
type rules struct {
	base      uint64
	offset    int64
	words     []byte
	registers [Count]rule
}

const (
	maxSteps  = 4096
	maxStored = 64
)

// rulesAt runs the instructions of an entry up to an address.
func (e *entry) rulesAt(address uint64) (rules, bool) {
	var now rules
	machine := machine{entry: e, place: e.begin, until: address}
	if !machine.run(e.initial, &now) {
		return now, false
	}
	machine.initial, machine.place = now, e.begin
	return now, machine.run(e.program, &now)
}

type machine struct {
	entry        *entry
	place, until uint64
	initial      rules
	stored       []rules
	steps        int
}

// The instructions (DW_CFA): those with an operand in their low bits, and the others.
const (
	opAdvance, opOffset, opRestore                      = 0x40, 0x80, 0xc0
	opSet, opAdvance1, opAdvance2, opAdvance4           = 0x01, 0x02, 0x03, 0x04
	opOffsetFar, opRestoreFar, opUndefined, opSame      = 0x05, 0x06, 0x07, 0x08
	opRegister, opRemember, opRecall                    = 0x09, 0x0a, 0x0b
	opBase, opBaseRegister, opBaseOffset, opBaseWords   = 0x0c, 0x0d, 0x0e, 0x0f
	opWords, opOffsetSigned, opBaseSigned, opBaseOffSig = 0x10, 0x11, 0x12, 0x13
	opPlain, opPlainSigned, opPlainWords                = 0x14, 0x15, 0x16
	opSigned, opArguments, opOffsetNegative             = 0x2d, 0x2e, 0x2f
)

func (m *machine) run(read cursor, now *rules) bool {
	for read.more() {
		if m.steps++; m.steps > maxSteps {
			return false
		}
		op := read.byte()
		low := uint64(op & 0x3f)
		switch op & 0xc0 {
		case opAdvance:
			if m.advance(low) {
				return true
			}
			continue
		case opOffset:
			now.set(low, rule{how: saved, value: int64(read.number()) * m.entry.data})
			continue
		case opRestore:
			now.set(low, m.initial.get(low))
			continue
		}
		if done, ok := m.step(op, &read, now); done || !ok {
			return ok
		}
	}
	return !read.bad
}

// advance goes on to the next address; true once the rules of the one that is wanted are complete.
func (m *machine) advance(by uint64) bool {
	m.place += by * m.entry.code
	return m.place > m.until
}

func (m *machine) step(op byte, read *cursor, now *rules) (done, ok bool) {
	data := m.entry.data
	switch op {
	case 0:
	case opSet:
		read.double()
	case opAdvance1:
		return m.advance(uint64(read.byte())), true
	case opAdvance2:
		return m.advance(uint64(read.short())), true
	case opAdvance4:
		return m.advance(uint64(read.word())), true
	case opOffsetFar:
		now.set(read.number(), rule{how: saved, value: int64(read.number()) * data})
	case opOffsetSigned:
		now.set(read.number(), rule{how: saved, value: read.signed() * data})
	case opOffsetNegative:
		now.set(read.number(), rule{how: saved, value: -int64(read.number()) * data})
	case opRestoreFar:
		register := read.number()
		now.set(register, m.initial.get(register))
	case opUndefined:
		now.set(read.number(), rule{how: lost})
	case opSame:
		now.set(read.number(), rule{})
	case opRegister:
		now.set(read.number(), rule{how: copied, value: int64(read.number())})
	case opPlain:
		now.set(read.number(), rule{how: plain, value: int64(read.number()) * data})
	case opPlainSigned:
		now.set(read.number(), rule{how: plain, value: read.signed() * data})
	case opWords:
		now.set(read.number(), rule{how: computed, words: read.words()})
	case opPlainWords:
		now.set(read.number(), rule{how: computedValue, words: read.words()})
	case opRemember:
		if len(m.stored) == maxStored {
			return false, false
		}
		m.stored = append(m.stored, *now)
	case opRecall:
		if len(m.stored) == 0 {
			return false, false
		}
		*now = m.stored[len(m.stored)-1]
		m.stored = m.stored[:len(m.stored)-1]
	case opArguments:
		read.number()
	case opSigned:
		// On arm64 a return address is signed from here on, or no longer: the sign is cut off anyway.
	default:
		return false, now.setBase(op, read, data)
	}
	return false, true
}

// setBase changes how the frame's address is found.
func (r *rules) setBase(op byte, read *cursor, data int64) bool {
	switch op {
	case opBase:
		r.base, r.offset, r.words = read.number(), int64(read.number()), nil
	case opBaseSigned:
		r.base, r.offset, r.words = read.number(), read.signed()*data, nil
	case opBaseRegister:
		r.base, r.words = read.number(), nil
	case opBaseOffset:
		r.offset = int64(read.number())
	case opBaseOffSig:
		r.offset = read.signed() * data
	case opBaseWords:
		r.words = read.words()
	default:
		return false
	}
	return true
}

func (c *cursor) words() []byte { return slices.Clone(c.take(int(min(c.number(), maxEntry)))) }

func (r *rules) set(register uint64, to rule) {
	if register < Count {
		r.registers[register] = to
	}
}

func (r *rules) get(register uint64) rule {
	if register < Count {
		return r.registers[register]
	}
	return rule{}
}
