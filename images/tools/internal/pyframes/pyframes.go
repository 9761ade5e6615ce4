// Package pyframes reads the stacks of Python's own functions from the memory of a CPython that is stopped: it asks the process for nothing, so it works
// at the moment of its death too. What it reads may be half written, or anything that the target wished: each number is checked, and each loop has an end.
package pyframes

import (
	"encoding/binary"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"kdebug/tools/internal/unwind"
)

// Memory reads a process' memory; what is not there is left out.
type Memory interface {
	Read(address uint64, size int) []byte
}

// Interpreter is a CPython that was found in a process.
type Interpreter struct {
	runtime uint64
	at      layout
}

// holds is whether a file may hold CPython, by its name.
func holds(file string) bool {
	return strings.HasPrefix(path.Base(file), "python") || strings.HasPrefix(path.Base(file), "libpython")
}

// Find looks for a CPython of 3.11, 3.12 or 3.13 in a process; nil where there is none.
func Find(walker *unwind.Walker) *Interpreter {
	runtime, found := walker.Symbol("_PyRuntime", holds)
	if !found {
		return nil
	}
	if version, told := walker.Symbol("Py_Version", holds); told {
		if at, known := layouts[doubleAt(walker.Read(version, 8), 0)>>16]; known {
			return &Interpreter{runtime, at}
		}
	}
	if at, known := layoutOf13(walker.Read(runtime, told)); known {
		return &Interpreter{runtime, at}
	}
	return nil
}

const (
	maxInterpreters, maxThreads, maxFrames = 8, 256, 64
	// maxText are the letters of a name, and maxLines the bytes of a table of lines, that are read.
	maxText, maxLines = 160, 64 << 10
)

// Stacks gives the frames of each thread, the innermost first, by the kernel's number of the thread. What is not read by a time is left out.
func (i *Interpreter) Stacks(memory Memory, until time.Time) map[int][]unwind.Frame {
	read := &reading{memory: memory, at: i.at, until: until, codes: map[uint64]*code{}}
	stacks := map[int][]unwind.Frame{}
	interpreter := read.double(i.runtime + i.at.interpreters)
	for range maxInterpreters {
		if interpreter == 0 || read.isLate() {
			break
		}
		thread := read.double(interpreter + i.at.threads)
		for range maxThreads {
			if thread == 0 || read.isLate() {
				break
			}
			if id := read.double(thread + i.at.nativeID); id > 0 && id < 1<<31 {
				if frames := read.frames(thread); len(frames) > 0 {
					stacks[int(id)] = frames
				}
			}
			thread = read.double(thread + i.at.nextThread)
		}
		interpreter = read.double(interpreter + i.at.nextInterpreter)
	}
	return stacks
}

// IsOwn is whether a file is of the program itself, not of Python's library or an installed package.
func IsOwn(file string) bool {
	return file != "" && !strings.HasPrefix(file, "<frozen") && !strings.Contains(file, "/lib/python3") && !strings.Contains(file, "-packages/")
}

type reading struct {
	memory Memory
	at     layout
	until  time.Time
	codes  map[uint64]*code
}

// code is what is known of a code object; a name of "" is none.
type code struct {
	name, file           string
	firstLine            int
	instructions, length uint64
	lines                []byte
}

func (r *reading) isLate() bool { return time.Now().After(r.until) }

func (r *reading) double(address uint64) uint64 { return doubleAt(r.memory.Read(address, 8), 0) }

// doubleAt is a number within what was read; 0 where it is not there.
func doubleAt(data []byte, at int) uint64 {
	if at+8 > len(data) {
		return 0
	}
	return binary.LittleEndian.Uint64(data[at:])
}

// onlyOfC is the owner of a frame that stands for a call from C.
const onlyOfC = 3

func (r *reading) frames(thread uint64) []unwind.Frame {
	frame := r.double(thread + r.at.frame)
	if !r.at.isDirect {
		frame = r.double(frame + r.at.currentFrame)
	}
	var frames []unwind.Frame
	const frameSize = 96
	for range 2 * maxFrames {
		data := r.memory.Read(frame, frameSize)
		if frame == 0 || len(data) < frameSize || len(frames) == maxFrames || r.isLate() || r.at.owner >= frameSize {
			break
		}
		if data[r.at.owner] != onlyOfC {
			if of := r.code(doubleAt(data, int(r.at.code))); of.name != "" {
				line := of.lineAt(doubleAt(data, int(r.at.instruction)))
				frames = append(frames, unwind.Frame{Function: of.name, File: of.file, Line: line})
			}
		}
		frame = doubleAt(data, int(r.at.previous))
	}
	return frames
}

func (r *reading) code(address uint64) *code {
	if known := r.codes[address]; known != nil {
		return known
	}
	found := &code{}
	r.codes[address] = found
	data := r.memory.Read(address, int(min(r.at.instructions, 512)))
	if address == 0 || uint64(len(data)) < r.at.instructions {
		return found
	}
	found.file, found.name = r.text(doubleAt(data, int(r.at.file))), r.text(doubleAt(data, int(r.at.name)))
	found.firstLine = int(int32(binary.LittleEndian.Uint32(data[r.at.firstLine:])))
	found.instructions = address + r.at.instructions
	const sizeAt, bytesAt = 16, 32
	lines := doubleAt(data, int(r.at.lines))
	if size := r.double(lines + sizeAt); size <= maxLines {
		found.lines = r.memory.Read(lines+bytesAt, int(size))
	}
	return found
}

// text reads a str of Python. A name has few letters; one that is no text is "".
func (r *reading) text(address uint64) string {
	const lengthAt, stateAt, headSize = 16, 32, 40
	head := r.memory.Read(address, headSize)
	if address == 0 || len(head) < headSize {
		return ""
	}
	length, state := doubleAt(head, lengthAt), binary.LittleEndian.Uint32(head[stateAt:])
	width, isCompact, isASCII := state>>2&7, state>>5&1 == 1, state>>6&1 == 1
	if !isCompact || length == 0 || length > 1<<20 || width != 1 && width != 2 && width != 4 {
		return ""
	}
	// Of a long path the end counts.
	skipped := uint64(0)
	if length > maxText {
		skipped = length - maxText
	}
	begin := r.at.wide
	if isASCII {
		begin = r.at.text
	}
	data := r.memory.Read(address+begin+skipped*uint64(width), int((length-skipped)*uint64(width)))
	var text strings.Builder
	for ; len(data) >= int(width); data = data[width:] {
		letter := rune(data[0])
		switch width {
		case 2:
			letter = rune(binary.LittleEndian.Uint16(data))
		case 4:
			letter = rune(binary.LittleEndian.Uint32(data))
		}
		if !utf8.ValidRune(letter) {
			return ""
		}
		text.WriteRune(letter)
	}
	return text.String()
}
