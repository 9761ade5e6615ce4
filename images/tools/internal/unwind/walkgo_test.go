package unwind

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// recorded is memory from an address on, in words of 8 bytes.
type recorded struct {
	from  uint64
	words []uint64
}

func (r recorded) ReadAt(into []byte, at int64) (int, error) {
	var data []byte
	for _, each := range r.words {
		data = binary.LittleEndian.AppendUint64(data, each)
	}
	return bytes.NewReader(data).ReadAt(into, at-int64(r.from))
}

// The stacks of a panic on arm64: systemstack was called by fatalpanic, and that by gopanic. A frame begins with its return address, at the stack pointer,
// and the caller's frame pointer is below that.
func TestTheWalkOnArm64GoesOnBehindAChangeOfStacks(t *testing.T) {
	const (
		stack      = 0x4000_0000
		fatalpanic = 0x45c0
		gopanic    = 0x4a10
		panics     = 0x8b20
	)
	memory := recorded{from: stack, words: []uint64{
		// What systemstack left: the frame pointer of its caller, and where it returns to.
		stack + 0x20, fatalpanic,
		0, 0,
		// fatalpanic: a frame of 32 bytes, the frame pointer of gopanic and the return address.
		stack + 0x40, gopanic, 0, 0,
		// gopanic: the same of its caller.
		stack + 0x60, panics, 0, 0,
	}}
	walker := &Walker{memory: memory}
	registers := Registers{PC: 0x100}
	registers.Numbered[FP], registers.Numbered[SP] = stack, 0x7000_0000
	if !walker.stepOverSwitch(&registers, true) || registers.PC != fatalpanic {
		t.Fatalf("%#x", registers.PC)
	}
	for _, want := range []uint64{gopanic, panics} {
		if !walker.stepGoByLink(&registers, registers.Numbered[SP], 32, false) || registers.PC != want {
			t.Fatalf("it returns to %#x, not %#x", registers.PC, want)
		}
	}
}

func TestTheWalkOnAmd64GoesOnBehindAChangeOfStacks(t *testing.T) {
	walker := &Walker{memory: recorded{from: 0x4000, words: []uint64{0x4040, 0x45c0}}}
	registers := Registers{}
	registers.Numbered[FP] = 0x4000
	if !walker.stepOverSwitch(&registers, false) || registers.PC != 0x45c0 || registers.Numbered[SP] != 0x4010 || registers.Numbered[FP] != 0x4040 {
		t.Errorf("%+v", registers)
	}
}
