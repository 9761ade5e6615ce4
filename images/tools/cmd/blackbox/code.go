package main

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keepCode puts copies in the place of our own program's pages. They belong to a file, and where a pod fills its memory the kernel drops those of who sleeps:
// the first step after waking then waits for memory that is not there, for the 2 s after which the kernel takes the dying process' own. Copies are dropped
// only to a swap. Where the kernel refuses, all stays as it was.
func keepCode() {
	// On other processors nobody has tried whether the copy of code runs at once.
	if runtime.GOARCH != "amd64" {
		return
	}
	for _, each := range ourPieces() {
		each.copyInPlace()
	}
}

// ownPiece is a part of our program's file in memory that is only read or run.
type ownPiece struct {
	begin, size uintptr
	may         int
}

func ourPieces() []ownPiece {
	file, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer file.Close()
	var pieces []ownPiece
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) < 6 || !strings.HasPrefix(words[5], "/") {
			continue
		}
		may := map[string]int{"r-xp": unix.PROT_READ | unix.PROT_EXEC, "r--p": unix.PROT_READ}[words[1]]
		first, last, _ := strings.Cut(words[0], "-")
		begin, err := strconv.ParseUint(first, 16, 64)
		end, wrong := strconv.ParseUint(last, 16, 64)
		if may != 0 && err == nil && wrong == nil && begin < end {
			pieces = append(pieces, ownPiece{uintptr(begin), uintptr(end - begin), may})
		}
	}
	return pieces
}

// copyInPlace moves a copy over the piece. The kernel does that in one step, so that no thread sees anything between.
func (p ownPiece) copyInPlace() {
	made, err := unix.Mmap(-1, 0, int(p.size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return
	}
	copy(made, unsafe.Slice((*byte)(at(p.begin)), p.size))
	if unix.Mprotect(made, p.may) != nil {
		_ = unix.Munmap(made)
		return
	}
	place := uintptr(unsafe.Pointer(unsafe.SliceData(made)))
	_, _, errno := unix.Syscall6(unix.SYS_MREMAP, place, p.size, p.size, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, p.begin, 0)
	if errno != 0 {
		_ = unix.Munmap(made)
	}
}

// at is an address of ours that the runtime knows nothing of.
func at(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
