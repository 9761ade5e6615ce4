package unwind

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"kdebug/tools/internal/target"
)

// Mapping is a piece of a process' memory.
type Mapping struct {
	Begin, End, Offset uint64
	// May is what may be done with it, as "r-xp"; Path the file, "[stack]" and the like, or "".
	May, Path string
	Inode     uint64
}

const maxMappings = 20_000

// MapsOf reads the memory map of a process, at most 20,000 pieces of it.
func MapsOf(fs target.FS, pid int) ([]Mapping, error) {
	file, err := os.Open(fs.Path(pid, "maps"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []Mapping
	lines := bufio.NewScanner(file)
	for lines.Scan() && len(all) < maxMappings {
		if each, ok := mappingOf(lines.Text()); ok {
			all = append(all, each)
		}
	}
	return all, nil
}

func mappingOf(line string) (Mapping, bool) {
	words := strings.Fields(line)
	if len(words) < 5 {
		return Mapping{}, false
	}
	begin, end, _ := strings.Cut(words[0], "-")
	each := Mapping{May: words[1]}
	var errs [4]error
	each.Begin, errs[0] = strconv.ParseUint(begin, 16, 64)
	each.End, errs[1] = strconv.ParseUint(end, 16, 64)
	each.Offset, errs[2] = strconv.ParseUint(words[2], 16, 64)
	each.Inode, errs[3] = strconv.ParseUint(words[4], 10, 64)
	if len(words) > 5 {
		each.Path = line[strings.Index(line, words[5]):]
	}
	for _, err := range errs {
		if err != nil {
			return Mapping{}, false
		}
	}
	return each, true
}

// At is the mapping that holds an address.
func At(maps []Mapping, address uint64) (Mapping, bool) {
	for _, each := range maps {
		if address >= each.Begin && address < each.End {
			return each, true
		}
	}
	return Mapping{}, false
}
