package unwind

// switches are Go's functions that go on at another stack: there only the chain of frame pointers leads back.
var switches = map[string]bool{
	"runtime.systemstack": true, "runtime.systemstack_switch": true, "runtime.asmcgocall": true, "runtime.asmcgocall.abi0": true,
	"runtime.systemstack.abi0": true, "runtime.mcall": true, "runtime.morestack": true, "runtime.morestack.abi0": true,
}

// bottoms are where a goroutine or a thread begins.
var bottoms = map[string]bool{
	"runtime.goexit": true, "runtime.mstart": true, "runtime.rt0_go": true, "runtime.goexit.abi0": true, "runtime.mstart.abi0": true, "runtime.rt0_go.abi0": true, "runtime.mcall": true,
}

// stepGo goes to the caller of a function of Go, whose table says how far its frame reaches.
func (w *Walker) stepGo(registers *Registers, function goFunc, inside uint64, isFirst bool) bool {
	if switches[function.name] {
		return w.stepOverSwitch(registers, linkIsRegister)
	}
	if bottoms[function.name] {
		return false
	}
	depth, known := function.depth(inside)
	if !known {
		return w.stepByFrame(registers)
	}
	below := registers.Numbered[SP]
	if linkIsRegister {
		return w.stepGoByLink(registers, below, depth, isFirst)
	}
	returns, ok := w.double(below + depth)
	if !ok {
		return false
	}
	if depth > 0 {
		if frame, ok := w.double(below + depth - 8); ok {
			registers.Numbered[FP] = frame
		}
	}
	registers.PC, registers.Numbered[SP] = returns, below+depth+8
	return true
}

// stepOverSwitch goes back to the stack that was left. Where Go keeps return addresses at the end of a frame (arm64), its frame pointer is 8 below the stack
// pointer of each function.
func (w *Walker) stepOverSwitch(registers *Registers, isByLink bool) bool {
	if !w.stepByFrame(registers) {
		return false
	}
	if isByLink {
		registers.Numbered[SP] = registers.Numbered[FP] + 8
	}
	return true
}

// stepGoByLink is for arm64: the return address is at the end of the frame, or in its register.
func (w *Walker) stepGoByLink(registers *Registers, below, depth uint64, isFirst bool) bool {
	if depth == 0 {
		if !isFirst {
			return false
		}
		registers.PC = registers.Numbered[link] & addressMask
		return true
	}
	returns, ok := w.double(below)
	if !ok {
		return false
	}
	if frame, ok := w.double(below - 8); ok {
		registers.Numbered[FP] = frame
	}
	registers.PC, registers.Numbered[SP] = returns&addressMask, below+depth
	return true
}
