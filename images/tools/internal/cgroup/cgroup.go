// Package cgroup reads the numbers that a target's cgroup counts, of version 2 or 1, and never a file outside the target's root.
package cgroup

import (
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"kdebug/tools/internal/target"
)

// maxNumbers bounds what is read of a file: what a target mounted there may have any length.
const maxNumbers = 64 << 10

// Group are the folders with the target's numbers, by controller; Version 0 where none was found. The target may have made what lies in them: it is
// read below them only.
type Group struct {
	Version                    int
	Memory, CPU, CPUAcct, PIDs *os.Root
}

// Of looks below the target's root, which has what the target's own mount shows. A link that the target made is followed within its root alone: an
// absolute one would be resolved in ours, and lead to files of others.
func Of(t *target.Target) Group {
	root, err := os.OpenRoot(t.Root())
	if err != nil {
		return Group{}
	}
	defer root.Close()
	mount, _ := root.OpenRoot("sys/fs/cgroup")
	text, _ := os.ReadFile(t.FS().Path(t.PID, "cgroup"))
	return in(mount, string(text))
}

// At looks in a folder of ours.
func At(folder string) Group {
	mount, _ := os.OpenRoot(folder)
	return in(mount, "")
}

// in looks in a mount, nil where there is none; text is the process' /proc/PID/cgroup.
func in(mount *os.Root, text string) Group {
	if mount == nil {
		return Group{}
	}
	for _, name := range []string{"cgroup.controllers", "memory.current", "cpu.stat"} {
		if isFile(mount, name) {
			all := controllerFolder(mount, "", text)
			if all == nil {
				return Group{}
			}
			return Group{Version: 2, Memory: all, CPU: all, PIDs: all}
		}
	}
	of := func(name string) *os.Root {
		// Nil where it is no folder.
		folder, _ := mount.OpenRoot(name)
		return controllerFolder(folder, name, text)
	}
	if memory, cpu := of("memory"), of("cpu"); memory != nil || cpu != nil {
		return Group{Version: 1, Memory: memory, CPU: cpu, CPUAcct: of("cpuacct"), PIDs: of("pids")}
	}
	return Group{}
}

// controllerFolder is where a controller's numbers are (version 2: ""); nil where only those of the whole node are visible. A process that shares our view of the hierarchy lies deeper than the mount; one
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
	if isNodes(root) {
		root.Close()
		return nil
	}
	return root
}

// isNodes is whether a folder is the root of a hierarchy: its numbers are those of the whole node, which must not pass for the target's. Only a root has a
// release_agent (version 1), and only a root has no cgroup.type (version 2).
func isNodes(root *os.Root) bool {
	return isFile(root, "release_agent") || isFile(root, "cgroup.controllers") && isFile(root, "cgroup.procs") && !isFile(root, "cgroup.type")
}

func isFile(root *os.Root, name string) bool {
	info, err := root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// Text gives the first bytes of a file in a folder of a cgroup, or nothing where it cannot be read or is no regular file; at most maxNumbers.
func Text(folder *os.Root, name string) string {
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

// Amount is a number of a cgroup, known or not.
type Amount struct {
	Value int64
	Known bool
}

// Number is the whole number in a file; unknown for "max", for -1, and for what version 1 writes without a limit.
func Number(folder *os.Root, name string) Amount { return Parse(Text(folder, name)) }

// Parse is Number for a text.
func Parse(text string) Amount {
	text = strings.TrimSpace(text)
	if text == "" || len(text) >= 19 || strings.Trim(text, "0123456789") != "" {
		return Amount{}
	}
	value, err := strconv.ParseInt(text, 10, 64)
	return Amount{value, err == nil}
}

// Fields are the numbers of a file of "name number" lines.
func Fields(folder *os.Root, file string) map[string]int64 {
	fields := map[string]int64{}
	for line := range strings.Lines(Text(folder, file)) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, twice := fields[name]; twice {
			continue
		}
		if found := Parse(text); found.Known {
			fields[name] = found.Value
		}
	}
	return fields
}

// Field is one of these numbers.
func Field(fields map[string]int64, name string) Amount {
	value, known := fields[name]
	return Amount{value, known}
}

// Pressure is the whole percents of the last ten seconds in which some, or all, processes waited; unknown where the kernel does not count.
func Pressure(folder *os.Root, name string) (some, full Amount) {
	for line := range strings.Lines(Text(folder, name)) {
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
			some = Parse(whole)
		case "full":
			full = Parse(whole)
		}
	}
	return some, full
}
