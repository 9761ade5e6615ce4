package target

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"strings"
)

// What is read of a program's file, which the target wrote: its first page, the table of its sections, Go's note of how it was built, and the names that it
// exports, in pieces. Not by debug/elf and debug/buildinfo, which read whole tables of symbols into memory and link the formats of four more systems.
const (
	firstPage   = 4096
	maxSections = 1024
	// maxNames bounds the bytes of exported names, and of the table of symbols, that are looked through.
	maxNames  = 64 << 20
	maxPlaces = 16
	piece     = 64 << 10
)

// exported are names that tell what runtime a program holds.
var exported = []struct {
	name    string
	runtime Runtime
}{{"node_module_register", Node}, {"Py_BytesMain", Python}, {"ruby_init_stack", Ruby}, {"DotNetRuntimeInfo", DotNet}}

// byProgram tells Go, a program that holds a runtime, and everything else apart. What is no ELF file of 64 bits and little endian is not known.
func byProgram(name string) (Runtime, string) {
	file, err := os.Open(name)
	if err != nil {
		return Unknown, ""
	}
	defer file.Close()
	head := make([]byte, firstPage)
	got, _ := io.ReadFull(file, head)
	if head = head[:got]; got < 64 || string(head[:6]) != "\x7fELF\x02\x01" {
		return Unknown, ""
	}
	sections := sectionsOf(file, head)
	for _, each := range sections {
		if each.name == ".go.buildinfo" {
			return Go, goVersion(file, each)
		}
	}
	// The note with the build id, which every Go linker puts into the first page: where the table of sections was cut off.
	if note := bytes.Index(head, []byte("\x04\x00\x00\x00Go\x00\x00")); note >= 8 {
		return Go, ""
	}
	return exporting(file, sections), ""
}

// section is one of a program's sections: where it lies in its file. Link is the section with the names of its symbols.
type section struct {
	name         string
	kind, link   uint32
	offset, size int64
}

// sectionsOf reads the table of sections (elf(5)); nothing where it makes no sense.
func sectionsOf(file io.ReaderAt, head []byte) []section {
	const entry = 64
	number, names := int(binary.LittleEndian.Uint16(head[60:])), int(binary.LittleEndian.Uint16(head[62:]))
	if binary.LittleEndian.Uint16(head[58:]) != entry || number > maxSections || names >= number {
		return nil
	}
	table := make([]byte, number*entry)
	//nolint:gosec // A place beyond the file cannot be read.
	if _, err := file.ReadAt(table, int64(binary.LittleEndian.Uint64(head[40:]))); err != nil {
		return nil
	}
	sections, nameAt := make([]section, number), make([]uint32, number)
	for index := range sections {
		line := table[index*entry:]
		nameAt[index] = binary.LittleEndian.Uint32(line)
		sections[index] = section{
			kind: binary.LittleEndian.Uint32(line[4:]), link: binary.LittleEndian.Uint32(line[40:]),
			//nolint:gosec // As above.
			offset: int64(binary.LittleEndian.Uint64(line[24:])), size: int64(binary.LittleEndian.Uint64(line[32:])),
		}
	}
	text := make([]byte, min(max(sections[names].size, 0), piece))
	if got, _ := file.ReadAt(text, sections[names].offset); got < len(text) {
		return nil
	}
	for index, at := range nameAt {
		if int64(at) < int64(len(text)) {
			name, _, _ := bytes.Cut(text[at:], []byte{0})
			sections[index].name = string(name)
		}
	}
	return sections
}

// goVersion reads the version that is written in line, as since Go 1.18; "" for an older one.
func goVersion(file io.ReaderAt, info section) string {
	const inLine, text = 2, 32
	head := make([]byte, 128)
	got, _ := file.ReadAt(head, info.offset)
	if got <= text || string(head[:14]) != "\xff Go buildinf:" || head[15]&inLine == 0 {
		return ""
	}
	length, width := binary.Uvarint(head[text:got])
	if width <= 0 || length > uint64(got-text-width) {
		return ""
	}
	//nolint:gosec // It is less than the 128 bytes that were read.
	version, _, _ := strings.Cut(string(head[text+width:text+width+int(length)]), " ")
	return strings.TrimPrefix(version, "go")
}

// exporting is the runtime whose name the program exports; Native where it exports none.
func exporting(file io.ReaderAt, sections []section) Runtime {
	const dynamicSymbols = 11
	for _, symbols := range sections {
		if symbols.kind != dynamicSymbols || int(symbols.link) >= len(sections) {
			continue
		}
		places := placesOf(file, sections[symbols.link])
		if len(places) == 0 {
			return Native
		}
		return defined(file, symbols, places)
	}
	return Native
}

// placesOf finds where the names of exported stand among the names of the symbols; a name may be the end of a longer one.
func placesOf(file io.ReaderAt, names section) map[uint32]Runtime {
	places := map[uint32]Runtime{}
	const overlap = 64
	buffer := make([]byte, piece)
	for at := int64(0); at < min(names.size, maxNames); at += piece - overlap {
		got, _ := file.ReadAt(buffer[:min(piece, names.size-at)], names.offset+at)
		for _, each := range exported {
			found := bytes.Index(buffer[:got], append([]byte(each.name), 0))
			if found >= 0 && len(places) < maxPlaces {
				//nolint:gosec // It is less than maxNames.
				places[uint32(at)+uint32(found)] = each.runtime
			}
		}
		if got < piece {
			break
		}
	}
	return places
}

// defined is the runtime of the first symbol with one of these names that the program has itself, and does not take from a library.
func defined(file io.ReaderAt, symbols section, places map[uint32]Runtime) Runtime {
	const entry = 24
	buffer := make([]byte, piece/entry*entry)
	for at := int64(0); at < min(symbols.size, maxNames); at += int64(len(buffer)) {
		got, _ := file.ReadAt(buffer[:min(int64(len(buffer)), symbols.size-at)], symbols.offset+at)
		for line := buffer[:got]; len(line) >= entry; line = line[entry:] {
			if runtime, is := places[binary.LittleEndian.Uint32(line)]; is && binary.LittleEndian.Uint16(line[6:]) != 0 {
				return runtime
			}
		}
		if got < len(buffer) {
			break
		}
	}
	return Native
}

// HoldsText is whether the file of a process' program, its first 64 MiB, holds these words. It ends early where
// hasTime says no, and then they were not found.
func (fs FS) HoldsText(pid int, words string, hasTime func() bool) bool {
	file, err := os.Open(fs.Path(pid, "exe"))
	if err != nil {
		return false
	}
	defer file.Close()
	buffer := make([]byte, piece)
	for at := int64(0); at < maxNames && hasTime(); at += piece - int64(len(words)) {
		got, _ := file.ReadAt(buffer, at)
		if bytes.Contains(buffer[:got], []byte(words)) {
			return true
		}
		if got < piece {
			break
		}
	}
	return false
}
