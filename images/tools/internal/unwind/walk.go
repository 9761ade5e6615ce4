package unwind

import (
	"encoding/binary"
	"io"
	"os"
	"strings"
	"time"

	"kdebug/tools/internal/target"
)

// Walker walks the stacks of one process, whose threads are stopped.
type Walker struct {
	Maps []Mapping
	// Until is when it begins nothing more; zero: never.
	Until  time.Time
	memory io.ReaderAt
	open   func(path string) (*os.File, error)
	exe    string
	// modules by their path; nil for one that cannot be read.
	modules map[string]*module
}

// module is a program or a library.
type module struct {
	program *program
	golang  *goTable
	closer  io.Closer
}

// Open begins with a process; the target is the one that its files are opened by. It needs the right to read its memory.
func Open(t *target.Target, pid int) (*Walker, error) {
	maps, err := MapsOf(t.FS(), pid)
	if err != nil {
		return nil, err
	}
	memory, err := os.Open(t.FS().Path(pid, "mem"))
	if err != nil {
		return nil, err
	}
	exe, _ := os.Readlink(t.FS().Path(pid, "exe"))
	open := func(path string) (*os.File, error) {
		if path == exe {
			// Also one that was removed since.
			return os.Open(t.FS().Path(pid, "exe"))
		}
		return t.Open(path)
	}
	return &Walker{Maps: maps, memory: memory, open: open, exe: exe, modules: map[string]*module{}}, nil
}

// isLate is whether the time is up.
func (w *Walker) isLate() bool { return !w.Until.IsZero() && time.Now().After(w.Until) }

// Close closes what was opened.
func (w *Walker) Close() {
	for _, each := range w.modules {
		if each != nil {
			each.closer.Close()
		}
	}
	if closer, is := w.memory.(io.Closer); is {
		closer.Close()
	}
}

// Read reads the process' memory; what is not there is left out.
func (w *Walker) Read(address uint64, size int) []byte {
	if address > 1<<62 {
		return nil
	}
	data := make([]byte, size)
	read, _ := w.memory.ReadAt(data, int64(address))
	return data[:read]
}

func (w *Walker) double(address uint64) (uint64, bool) {
	var data [8]byte
	if address > 1<<62 {
		return 0, false
	}
	if read, _ := w.memory.ReadAt(data[:], int64(address)); read < len(data) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(data[:]), true
}

const maxModules = 256

// moduleAt is the program or library at an address, and that address within it.
func (w *Walker) moduleAt(address uint64) (*module, string, uint64) {
	each, found := At(w.Maps, address)
	if !found || !strings.HasPrefix(each.Path, "/") || strings.HasPrefix(each.Path, "/dev/") {
		return nil, each.Path, address
	}
	path := each.Path
	opened, known := w.modules[path]
	if !known && len(w.modules) < maxModules {
		opened = w.read(path)
		w.modules[path] = opened
	}
	if opened == nil {
		return nil, path, address - each.Begin + each.Offset
	}
	inside, ok := opened.program.addressOf(address - each.Begin + each.Offset)
	if !ok {
		return nil, path, address - each.Begin + each.Offset
	}
	return opened, path, inside
}

func (w *Walker) read(path string) *module {
	file, err := w.open(path)
	if err != nil {
		return nil
	}
	read, err := readProgram(&pages{file: file})
	if err != nil {
		file.Close()
		return nil
	}
	return &module{program: read, golang: read.goTableOf(), closer: file}
}

// Walk gives the frames of a thread, the innermost first, at most most of them. They have no names yet: see Name.
func (w *Walker) Walk(registers Registers, most int) []Frame {
	var frames []Frame
	returns := false
	for len(frames) < most && (len(frames) == 0 || !w.isLate()) {
		frame := Frame{PC: registers.PC, returns: returns}
		opened, path, inside := w.moduleAt(frame.lookup())
		frame.Module, frame.Offset = path, inside
		frames = append(frames, frame)
		before := registers.Numbered[SP]
		isSignal, ok := w.step(&registers, opened, inside, len(frames) == 1)
		if !ok || registers.PC == 0 {
			break
		}
		// A stack grows downwards: who does not go up turns in a circle. Go changes stacks, and so does a signal.
		if registers.Numbered[SP] <= before && (opened == nil || opened.golang == nil) && !isSignal && len(frames) > 1 {
			break
		}
		if _, mapped := At(w.Maps, registers.PC); !mapped {
			break
		}
		returns = !isSignal
	}
	return frames
}

// step goes to the caller. isSignal is whether the caller was interrupted there rather than called.
func (w *Walker) step(registers *Registers, opened *module, inside uint64, isFirst bool) (isSignal, ok bool) {
	if opened != nil {
		if function, found := opened.golang.find(inside); found {
			return function.name == "runtime.sigpanic", w.stepGo(registers, function, inside, isFirst)
		}
		if entry, found := opened.program.find(inside); found {
			return entry.isSignal, w.stepByRules(registers, entry, inside)
		}
	}
	if _, mapped := At(w.Maps, registers.PC); isFirst && !mapped {
		return false, w.stepFromNowhere(registers)
	}
	return false, w.stepByFrame(registers)
}

// stepFromNowhere is a call of an address where nothing is, as by a function pointer of zero: only the call itself has happened.
func (w *Walker) stepFromNowhere(registers *Registers) bool {
	if linkIsRegister {
		registers.PC = registers.Numbered[link] & addressMask
		return true
	}
	value, ok := w.double(registers.Numbered[SP])
	registers.PC = value
	registers.Numbered[SP] += 8
	return ok
}

// stepByFrame follows the chain of frame pointers.
func (w *Walker) stepByFrame(registers *Registers) bool {
	frame := registers.Numbered[FP]
	if frame == 0 || frame%8 != 0 {
		return false
	}
	above, ok := w.double(frame)
	returns, too := w.double(frame + 8)
	if !ok || !too {
		return false
	}
	registers.PC, registers.Numbered[FP], registers.Numbered[SP] = returns&addressMask, above, frame+16
	return true
}

func (w *Walker) stepByRules(registers *Registers, entry *entry, inside uint64) bool {
	now, ok := entry.rulesAt(inside)
	if !ok {
		return false
	}
	var base uint64
	switch {
	case now.words != nil:
		if base, ok = w.evaluate(now.words, registers); !ok {
			return false
		}
	case now.base < Count:
		base = registers.Numbered[now.base] + uint64(now.offset)
	default:
		return false
	}
	next := *registers
	next.Numbered[SP] = base
	for number, each := range now.registers {
		value, ok := w.restored(each, base, registers, number)
		if !ok {
			if uint64(number) == entry.returnColumn {
				return false
			}
			continue
		}
		next.Numbered[number] = value
	}
	if entry.returnColumn >= Count {
		return false
	}
	next.PC = next.Numbered[entry.returnColumn] & addressMask
	if !linkIsRegister && now.registers[entry.returnColumn].how == same {
		return false
	}
	stays := next.PC == registers.PC && next.Numbered[SP] == registers.Numbered[SP]
	*registers = next
	return !stays
}

// restored is a register of the caller; false for one that is lost, or cannot be read.
func (w *Walker) restored(by rule, base uint64, registers *Registers, number int) (uint64, bool) {
	switch by.how {
	case saved:
		return w.double(base + uint64(by.value))
	case plain:
		return base + uint64(by.value), true
	case copied:
		if by.value < 0 || by.value >= Count {
			return 0, false
		}
		return registers.Numbered[by.value], true
	case computed, computedValue:
		value, ok := w.evaluate(by.words, registers, base)
		if by.how == computedValue || !ok {
			return value, ok
		}
		return w.double(value)
	case lost:
		return 0, false
	}
	if number == SP {
		return base, true
	}
	return registers.Numbered[number], true
}
