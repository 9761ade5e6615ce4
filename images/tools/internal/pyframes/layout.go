package pyframes

// layout says where the fields of CPython's own structures lie, on processors of 64 bits.
type layout struct {
	// interpreters is the first one's place in _PyRuntime, and threads the first thread's in it; nextThread and nativeID are those of a thread.
	interpreters, threads, nextInterpreter, nextThread, nativeID uint64
	// frame is where a thread has its innermost frame, or, before 3.13, what points there at currentFrame.
	frame, currentFrame uint64
	isDirect            bool
	// Those of a frame.
	code, previous, instruction, owner uint64
	// Those of a code object.
	file, name, lines, firstLine, instructions uint64
	// text is where the letters of a text of ASCII begin, and wide those of another.
	text, wide uint64
}

// layouts are those of 3.11 and 3.12, by the beginning of Py_Version. The offsets are those of their headers (offsetof), and hold for all releases of a minor
// version; 3.13 says its own.
var layouts = map[uint64]layout{
	0x030b: {
		interpreters: 40, threads: 16, nextInterpreter: 0, nextThread: 8, nativeID: 160, frame: 56, currentFrame: 8,
		code: 32, previous: 48, instruction: 56, owner: 69, file: 112, name: 128, lines: 136, firstLine: 72, instructions: 184, text: 48, wide: 72,
	},
	0x030c: {
		interpreters: 40, threads: 72, nextInterpreter: 0, nextThread: 8, nativeID: 144, frame: 56, currentFrame: 0,
		code: 0, previous: 8, instruction: 56, owner: 70, file: 112, name: 128, lines: 136, firstLine: 68, instructions: 192, text: 40, wide: 56,
	},
}

const (
	cookie = "xdebugpy"
	// told is how much of _PyRuntime has the table of 3.13.
	told      = 44 * 8
	version13 = 0x030d
	// freeThreaded is whether it was built without Python's lock.
	freeThreaded = 2
	// most is what no field of a structure of ours is beyond.
	most = 4096
)

// layoutOf13 reads the table that 3.13 has at the beginning of _PyRuntime (_Py_DebugOffsets); false for another version, whose table is another.
func layoutOf13(table []byte) (layout, bool) {
	if len(table) < told || string(table[:len(cookie)]) != cookie || doubleAt(table, 8)>>16 != version13 {
		return layout{}, false
	}
	word := func(index int) uint64 { return doubleAt(table, 8*index) }
	if word(freeThreaded) != 0 {
		// Its objects have other heads.
		return layout{}, false
	}
	// Numbered as in the header: 3 is the size of the runtime, 6 that of an interpreter, 19 of a thread, 28 of a frame, 34 of a code object.
	at := layout{
		interpreters: word(5), nextInterpreter: word(8), threads: word(9), nextThread: word(21), frame: word(23), nativeID: word(25), isDirect: true,
		previous: word(29), code: word(30), instruction: word(31), owner: word(33),
		file: word(35), name: word(37), lines: word(38), firstLine: word(39), instructions: word(43), text: 40, wide: 56,
	}
	return at, at.isSound()
}

// isSound is whether the fields lie where something can be: what a process says of itself may be anything.
func (l layout) isSound() bool {
	const frameSize, codeSize = 96, 512
	inFrame := max(l.code, l.previous, l.instruction)+8 <= frameSize && l.owner < frameSize
	inCode := l.instructions <= codeSize && max(l.file, l.name, l.lines, l.firstLine)+8 <= l.instructions
	return inFrame && inCode && max(l.interpreters, l.threads, l.nextInterpreter, l.nextThread, l.nativeID, l.frame) < most<<4
}
