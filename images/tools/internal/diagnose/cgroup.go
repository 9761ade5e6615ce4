package diagnose

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxNumbers bounds what is read of a cgroup's file: what AUTODIAGNOSE_CGROUP names, or a target mounted there, may have any length.
const maxNumbers = 64 << 10

// cgroup are the folders with the target's numbers, by controller; version 0 where none was found.
type cgroup struct {
	version                    int
	memory, cpu, cpuacct, pids string
}

// findCgroup looks below the target's root, which has what the target's own mount shows, or where AUTODIAGNOSE_CGROUP says.
func findCgroup(look *Look) cgroup {
	if look.Target == nil {
		return cgroup{}
	}
	root, given := look.Settings.Cgroup, look.Settings.Cgroup != ""
	if !given {
		root = filepath.Join(look.Target.Root(), "sys/fs/cgroup")
	}
	text := ""
	if !given {
		text = readFile(look.Target.FS().Path(look.Target.PID, "cgroup"))
	}
	folder := func(root, controller string) string { return controllerFolder(root, controller, text) }
	for _, name := range []string{"cgroup.controllers", "memory.current", "cpu.stat"} {
		if isReadable(filepath.Join(root, name)) {
			all := folder(root, "")
			return cgroup{version: 2, memory: all, cpu: all, pids: all}
		}
	}
	if isFolder(filepath.Join(root, "memory")) || isFolder(filepath.Join(root, "cpu")) {
		in := func(name string) string { return folder(filepath.Join(root, name), name) }
		return cgroup{version: 1, memory: in("memory"), cpu: in("cpu"), cpuacct: in("cpuacct"), pids: in("pids")}
	}
	return cgroup{}
}

// controllerFolder is where a controller's numbers are (version 2: ""). A process that shares our view of the hierarchy lies deeper than the mount; one
// in a container does not. Text is the process' /proc/PID/cgroup.
func controllerFolder(root, controller, text string) string {
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(fields) < 3 || !slices.Contains(strings.Split(fields[1], ","), controller) {
			continue
		}
		if inner := fields[2]; inner != "/" && !strings.Contains(inner, "..") && isFolder(root+inner) {
			root += inner
		}
	}
	return root
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isReadable(path string) bool {
	file, err := openFile(path)
	if err != nil {
		return false
	}
	file.Close()
	return true
}

// amount is a number of a cgroup, known or not.
type amount struct {
	value int64
	known bool
}

// numberIn is the whole number in a file; unknown for "max", for -1, and for what version 1 writes without a limit.
func numberIn(path string) amount { return numberOf(strings.TrimSpace(readFile(path))) }

func numberOf(text string) amount {
	if text == "" || len(text) >= 19 || strings.Trim(text, "0123456789") != "" {
		return amount{}
	}
	value, err := strconv.ParseInt(text, 10, 64)
	return amount{value, err == nil}
}

// fieldsIn are the numbers of a file of "name number" lines.
func fieldsIn(path string) map[string]int64 {
	fields := map[string]int64{}
	for line := range strings.Lines(readFile(path)) {
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
func pressure(path string) (some, full amount) {
	for line := range strings.Lines(readFile(path)) {
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
