// Package unwind finds the functions that a stopped thread is in, from its registers and memory and the files of its program: by Go's table of
// functions, by .eh_frame, else by frame pointers. It reads little pieces and keeps little: the target's memory may be full. What the target wrote may
// be anything: each number is checked, and each loop has an end.
package unwind

// Registers are those of a stopped thread, by their numbers in DWARF.
type Registers struct {
	PC       uint64
	Numbered [Count]uint64
}

// Frame is one function of a stack.
type Frame struct {
	PC uint64
	// Module is the path of the file that holds it, or "[vdso]"; "" for memory of no file. Offset is the address within that file's program.
	Module string
	Offset uint64
	// Function is "" where no table names it; Plus is how far within it.
	Function string
	Plus     uint64
	// File and Line of the source, where the program has a table of them.
	File string
	Line int
	// returns is whether PC is where a call returns to: the call is before it.
	returns bool
}

// lookup is an address within the instruction that is meant.
func (f Frame) lookup() uint64 {
	if f.returns {
		return f.PC - 1
	}
	return f.PC
}
