package unwind

// The registers by their numbers in DWARF: FP and SP, and the one in which a return address is found, or is kept by a function that calls no other.
const (
	Count = 33
	FP    = 29
	SP    = 31
	link  = 30
	// linkIsRegister is whether a call leaves the return address in a register rather than on the stack.
	linkIsRegister = true
	// addressMask are the bits of an address that count: the others may sign it.
	addressMask = 1<<48 - 1
)
