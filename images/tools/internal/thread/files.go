package thread

import (
	"encoding/binary"
	"os"
	"slices"
	"strconv"
	"strings"

	"kdebug/tools/internal/target"
)

// files are the open files of the process: they are read when a thread waits for one, and the sockets of the pod once.
type files struct {
	fs  target.FS
	pid int
	// links by descriptor, as "socket:[123]".
	links   map[int]string
	sockets *table
}

const (
	// maxPolled is how many descriptors a thread may poll and still be one that waits for a connection: an event loop has more.
	maxPolled = 4
	polledIn  = 0x1
	polledOut = 0x4
)

// wait reads /proc/PID/task/TID/syscall, the call's number and its six arguments. Its Class is empty where that tells nothing.
func (f *files) wait(line string) Seen {
	fields := strings.Fields(line)
	if len(fields) < 7 {
		return Seen{}
	}
	number, err := strconv.Atoi(fields[0])
	if err != nil {
		return Seen{}
	}
	args := make([]uint64, 6)
	for index := range args {
		args[index], _ = strconv.ParseUint(fields[index+1], 0, 64)
	}
	kind := calls[number]
	switch kind {
	case reads, writes, connects:
		return f.at(int(int32(args[0])), kind)
	case polls:
		return f.polled(args[0], args[1], int32(args[2]))
	case selects:
		return f.selected(args)
	}
	return simple[kind]
}

// at is a wait at one descriptor.
func (f *files) at(descriptor int, kind call) Seen {
	link := f.link(descriptor)
	verb := map[call]string{reads: "reading from ", writes: "sending to ", connects: "connecting to "}[kind]
	inode, isSocket := strings.CutPrefix(link, "socket:[")
	switch {
	case isSocket:
		return f.socket(strings.TrimSuffix(inode, "]"), verb)
	case link == "" && kind == connects:
		return Seen{Class: Socket, Words: "connecting"}
	case link == "":
		// Not to be seen: the kernel's function says more.
		return Seen{}
	case strings.HasPrefix(link, "pipe:") && kind == writes:
		return Seen{Class: Other, Words: "writing to a full pipe"}
	case strings.HasPrefix(link, "pipe:"):
		return Seen{Class: Other, Words: "reading from a pipe"}
	case strings.HasPrefix(link, "anon_inode:"):
		return Seen{Class: Queue, Words: wordsEvents}
	}
	return Seen{Class: Other, Words: strings.TrimSuffix(verb, " ") + " a file"}
}

// polled is a wait at the descriptors of a poll: where they are few, and all but one are no connections, it is that connection, as a
// blocking read with a timeout of Java, Python and libpq is.
func (f *files) polled(address, count uint64, timeout int32) Seen {
	const size = 8
	if count == 0 {
		return simple[sleeps]
	}
	memory := make([]byte, size*min(count, maxPolled))
	if count > maxPolled || !f.read(memory, address) {
		return simple[events]
	}
	var descriptors, wanted []int
	for at := 0; at < len(memory); at += size {
		descriptors = append(descriptors, int(int32(binary.NativeEndian.Uint32(memory[at:]))))
		wanted = append(wanted, int(binary.NativeEndian.Uint16(memory[at+4:])))
	}
	return f.oneOf(descriptors, wanted)
}

// selected is the same for select: three sets of bits.
func (f *files) selected(args []uint64) Seen {
	const largest = 1024
	count := int(min(args[0], largest))
	if count == 0 || args[1] == 0 && args[2] == 0 {
		return simple[sleeps]
	}
	bits := map[int]int{}
	for index, flag := range []int{polledIn, polledOut} {
		set := make([]byte, largest/8)
		if args[index+1] == 0 {
			continue
		}
		if !f.read(set[:(count+63)/64*8], args[index+1]) {
			return simple[events]
		}
		for descriptor := range count {
			if set[descriptor/8]>>(descriptor%8)&1 == 1 {
				bits[descriptor] |= flag
			}
		}
	}
	if len(bits) == 0 {
		return simple[sleeps]
	}
	var descriptors, wanted []int
	for descriptor, flags := range bits {
		descriptors, wanted = append(descriptors, descriptor), append(wanted, flags)
	}
	if len(descriptors) > maxPolled {
		return simple[events]
	}
	return f.oneOf(descriptors, wanted)
}

// oneOf is the wait for the only connection among the descriptors; with none, or several, it is one for events.
func (f *files) oneOf(descriptors, wanted []int) Seen {
	var found []Seen
	for index, descriptor := range descriptors {
		kind := reads
		if wanted[index]&polledOut != 0 && wanted[index]&polledIn == 0 {
			kind = writes
		}
		if each := f.at(descriptor, kind); each.Class == Socket || each.Words == wordsClient {
			found = append(found, each)
		}
	}
	if len(found) == 1 || len(found) > 1 && !slices.ContainsFunc(found, func(each Seen) bool { return each.Words != wordsClient }) {
		return found[0]
	}
	return simple[events]
}

// read reads the memory of the process. Only numbers of descriptors are read so.
func (f *files) read(into []byte, address uint64) bool {
	memory, err := os.Open(f.fs.Path(f.pid, "mem"))
	if err != nil {
		return false
	}
	defer memory.Close()
	count, _ := memory.ReadAt(into, int64(address))
	return count == len(into)
}

func (f *files) link(descriptor int) string {
	if link, known := f.links[descriptor]; known {
		return link
	}
	if f.links == nil {
		f.links = map[int]string{}
	}
	link, _ := os.Readlink(f.fs.Path(f.pid, "fd", strconv.Itoa(descriptor)))
	f.links[descriptor] = link
	return link
}
