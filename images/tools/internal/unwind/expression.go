package unwind

// The operations (DW_OP) that compilers and libraries write into .eh_frame.
const (
	doAddress, doDeref                         = 0x03, 0x06
	doConst1, doConst1s, doConst2, doConst2s   = 0x08, 0x09, 0x0a, 0x0b
	doConst4, doConst4s, doConst8, doConst8s   = 0x0c, 0x0d, 0x0e, 0x0f
	doConst, doConstSigned, doTwice, doDrop    = 0x10, 0x11, 0x12, 0x13
	doOver, doSwap                             = 0x14, 0x16
	doAnd, doMinus, doMultiply, doOr, doPlus   = 0x1a, 0x1c, 0x1e, 0x21, 0x22
	doPlusConst, doLeft, doRight               = 0x23, 0x24, 0x25
	doEqual, doAtLeast, doMore, doAtMost       = 0x29, 0x2a, 0x2b, 0x2c
	doLess, doOther                            = 0x2d, 0x2e
	doLiteral, doLiteralEnd, doBase, doBaseEnd = 0x30, 0x4f, 0x70, 0x8f
	doNothing                                  = 0x96
	maxStack                                   = 64
)

// evaluate runs an expression; begin is what its stack begins with. False for one with an operation that is not known.
func (w *Walker) evaluate(words []byte, registers *Registers, begin ...uint64) (uint64, bool) {
	read := cursor{data: words}
	stack := begin
	for read.more() && len(stack) < maxStack {
		op := read.byte()
		var ok bool
		switch {
		case op >= doLiteral && op <= doLiteralEnd:
			stack = append(stack, uint64(op-doLiteral))
			continue
		case op >= doBase && op <= doBaseEnd:
			register := uint64(op - doBase)
			if register >= Count {
				return 0, false
			}
			stack = append(stack, registers.Numbered[register]+uint64(read.signed()))
			continue
		}
		if value, is := constant(op, &read); is {
			stack = append(stack, value)
			continue
		}
		if stack, ok = w.operate(op, &read, stack); !ok {
			return 0, false
		}
	}
	if len(stack) == 0 || read.bad {
		return 0, false
	}
	return stack[len(stack)-1], true
}

func constant(op byte, read *cursor) (uint64, bool) {
	switch op {
	case doConst1:
		return uint64(read.byte()), true
	case doConst1s:
		return uint64(int8(read.byte())), true
	case doConst2:
		return uint64(read.short()), true
	case doConst2s:
		return uint64(int16(read.short())), true
	case doConst4:
		return uint64(read.word()), true
	case doConst4s:
		return uint64(int32(read.word())), true
	case doAddress, doConst8, doConst8s:
		return read.double(), true
	case doConst:
		return read.number(), true
	case doConstSigned:
		return uint64(read.signed()), true
	}
	return 0, false
}

func (w *Walker) operate(op byte, read *cursor, stack []uint64) ([]uint64, bool) {
	last := len(stack) - 1
	if op == doNothing {
		return stack, true
	}
	if last < 0 {
		return nil, false
	}
	switch op {
	case doDeref:
		value, ok := w.double(stack[last])
		stack[last] = value
		return stack, ok
	case doPlusConst:
		stack[last] += read.number()
		return stack, true
	case doTwice:
		return append(stack, stack[last]), true
	case doDrop:
		return stack[:last], true
	}
	if last < 1 {
		return nil, false
	}
	a, b := stack[last-1], stack[last]
	switch op {
	case doOver:
		return append(stack, a), true
	case doSwap:
		stack[last-1], stack[last] = b, a
		return stack, true
	}
	value, ok := combine(op, a, b)
	stack[last-1] = value
	return stack[:last], ok
}

func combine(op byte, a, b uint64) (uint64, bool) {
	truth := func(is bool) (uint64, bool) {
		if is {
			return 1, true
		}
		return 0, true
	}
	switch op {
	case doAnd:
		return a & b, true
	case doMinus:
		return a - b, true
	case doMultiply:
		return a * b, true
	case doOr:
		return a | b, true
	case doPlus:
		return a + b, true
	case doLeft:
		return a << (b & 63), true
	case doRight:
		return a >> (b & 63), true
	case doEqual:
		return truth(a == b)
	case doAtLeast:
		return truth(int64(a) >= int64(b))
	case doMore:
		return truth(int64(a) > int64(b))
	case doAtMost:
		return truth(int64(a) <= int64(b))
	case doLess:
		return truth(int64(a) < int64(b))
	case doOther:
		return truth(a != b)
	}
	return 0, false
}
