package unwind

// The registers by their numbers in DWARF: FP and SP, and the one in which a return address is found, or is kept by a function that calls no other.
const (
	Count = 17
	FP    = 6
	SP    = 7
	link  = 16
	// linkIsRegister is whether a call leaves the return address in a register rather than on the stack.
	linkIsRegister = false
	// addressMask are the bits of an address that count.
	addressMask = 1<<48 - 1
)
