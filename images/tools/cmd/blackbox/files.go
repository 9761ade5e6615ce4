package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/sockets"
	"kdebug/tools/internal/target"
)

// openFiles are those that the process held: of sockets with their peers.
type openFiles struct {
	count, sockets int
	lines          []string
	more           int
	unreadable     bool
}

const (
	maxFiles     = 300
	maxLinks     = 20_000
	maxFileWords = 200
)

// filesOf reads the links of /proc/PID/fd, and the sockets of the pod if there is one among them.
func filesOf(fs target.FS, pid int) openFiles {
	folder := fs.Path(pid, "fd")
	opened, err := os.Open(folder)
	if err != nil {
		return openFiles{unreadable: true}
	}
	defer opened.Close()
	names, _ := opened.Readdirnames(maxLinks)
	numbers := make([]int, 0, len(names))
	for _, name := range names {
		if number, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	files := openFiles{count: len(numbers), more: max(0, len(numbers)-maxFiles)}
	var table map[string]string
	for _, number := range numbers[:min(len(numbers), maxFiles)] {
		link, err := os.Readlink(filepath.Join(folder, strconv.Itoa(number)))
		if err != nil {
			continue
		}
		if inode, is := strings.CutPrefix(link, "socket:["); is {
			files.sockets++
			if table == nil {
				table = socketTable()
			}
			if words := table[strings.TrimSuffix(inode, "]")]; words != "" {
				link = words
			}
		}
		files.lines = append(files.lines, fmt.Sprintf("%5d  %s", number, report.Line(link, maxFileWords)))
	}
	return files
}

// socketTable says of each TCP socket of the pod where it leads, by its inode.
func socketTable() map[string]string {
	table := map[string]string{}
	_ = sockets.Each(func(each sockets.Socket) {
		if each.Inode == 0 || len(table) == sockets.MaxLive {
			return
		}
		words := fmt.Sprintf("TCP %s %s to %s", strings.ToLower(each.State), each.Local, each.Peer)
		if each.State == "LISTEN" {
			words = fmt.Sprintf("TCP listens at %s, %d wait", each.Local, each.Waiting)
		} else if each.Waiting > 0 || each.Unsent > 0 {
			words += fmt.Sprintf(", %d bytes not read, %d not confirmed", each.Waiting, each.Unsent)
		}
		table[strconv.FormatUint(uint64(each.Inode), 10)] = words
	})
	return table
}
