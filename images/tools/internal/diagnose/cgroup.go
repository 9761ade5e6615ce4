package diagnose

import (
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"kdebug/tools/internal/target"
)

// maxNumbers bounds what is read of a cgroup's file: what AUTODIAGNOSE_CGROUP names, or a target mounted there, may have any length.
const maxNumbers = 64 << 10

// cgroup are the folders with the target's numbers, by controller; version 0 where none was found. The target may have made what lies in them: it is
// read below them only.
type cgroup struct {
	version                    int
	memory, cpu, cpuacct, pids *os.Root
}

// findCgroup looks below the target's root, which has what the target's own mount shows, or where AUTODIAGNOSE_CGROUP says.
func findCgroup(look *Look) cgroup {
	if look.Target == nil {
		return cgroup{}
	}
	mount, text := mountOf(look)
	if mount == nil {
		return cgroup{}
	}
	for _, name := range []string{"cgroup.controllers", "memory.current", "cpu.stat"} {
		if info, err := mount.Stat(name); err == nil && info.Mode().IsRegular() {
			all := controllerFolder(mount, "", text)
			return cgroup{version: 2, memory: all, cpu: all, pids: all}
		}
	}
	in := func(name string) *os.Root {
		// Nil where it is no folder.
		folder, _ := mount.OpenRoot(name)
		return controllerFolder(folder, name, text)
	}
	if memory, cpu := in("memory"), in("cpu"); memory != nil || cpu != nil {
		return cgroup{version: 1, memory: memory, cpu: cpu, cpuacct: in("cpuacct"), pids: in("pids")}
	}
	return cgroup{}
}

// mountOf is where the numbers are, nil where there is no such folder, and the process' /proc/PID/cgroup. A link that the target made is followed
// within its root alone: an absolute one would be resolved in ours, and lead to files of others.
func mountOf(look *Look) (*os.Root, string) {
	if given := look.Settings.Cgroup; given != "" {
		mount, _ := os.OpenRoot(given)
		return mount, ""
	}
	root, err := os.OpenRoot(look.Target.Root())
	if err != nil {
		return nil, ""
	}
	defer root.Close()
	mount, _ := root.OpenRoot("sys/fs/cgroup")
	return mount, readFile(look.Target.FS().Path(look.Target.PID, "cgroup"))
}

// controllerFolder is where a controller's numbers are (version 2: ""). A process that shares our view of the hierarchy lies deeper than the mount; one
// in a container does not. Text is the process' /proc/PID/cgroup.
func controllerFolder(root *os.Root, controller, text string) *os.Root {
	if root == nil {
		return nil
	}
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(fields) < 3 || !slices.Contains(strings.Split(fields[1], ","), controller) {
			continue
		}
		inner := strings.Trim(fields[2], "/")
		if inner == "" || strings.Contains(inner, "..") {
			continue
		}
		if deeper, err := root.OpenRoot(inner); err == nil {
			root.Close()
			root = deeper
		}
	}
	return root
}

// readIn gives the first bytes of a file in a folder of a cgroup, or nothing where it cannot be read or is no regular file; at most maxNumbers.
func readIn(folder *os.Root, name string) string {
	if folder == nil {
		return ""
	}
	file, err := target.OpenRegular(folder, name)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, maxNumbers))
	return string(text)
}

// amount is a number of a cgroup, known or not.
type amount struct {
	value int64
	known bool
}

// numberIn is the whole number in a file; unknown for "max", for -1, and for what version 1 writes without a limit.
func numberIn(folder *os.Root, name string) amount { return numberOf(readIn(folder, name)) }

func numberOf(text string) amount {
	text = strings.TrimSpace(text)
	if text == "" || len(text) >= 19 || strings.Trim(text, "0123456789") != "" {
		return amount{}
	}
	value, err := strconv.ParseInt(text, 10, 64)
	return amount{value, err == nil}
}

// fieldsIn are the numbers of a file of "name number" lines.
func fieldsIn(folder *os.Root, file string) map[string]int64 {
	fields := map[string]int64{}
	for line := range strings.Lines(readIn(folder, file)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, twice := fields[name]; twice {
			continue
		}
		if found := numberOf(text); found.known {
			fields[name] = found.value
		}
	}
	return fields
}

// field is one of these numbers.
func field(fields map[string]int64, name string) amount {
	value, known := fields[name]
	return amount{value, known}
}

// pressure is the whole percents of the last ten seconds in which some, or all, processes waited; unknown where the kernel does not count.
func pressure(folder *os.Root, name string) (some, full amount) {
	for line := range strings.Lines(readIn(folder, name)) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		share, found := strings.CutPrefix(words[1], "avg10=")
		whole, _, _ := strings.Cut(share, ".")
		if !found {
			continue
		}
		switch words[0] {
		case "some":
			some = numberOf(whole)
		case "full":
			full = numberOf(whole)
		}
	}
	return some, full
}
