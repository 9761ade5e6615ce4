package diagnose

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/target"
)

// openFiles is what the links of /proc/PID/fd say.
type openFiles struct {
	// complete is whether the files of all living processes of the target were seen, so that sockets holds all of them.
	complete bool
	// sockets are the inodes of all sockets that the target holds.
	sockets map[uint64]bool
	// deleted are files that are removed but still open, at most 64.
	deleted []deletedFile
	// holders are the processes that let us look.
	holders []holder
}

// deletedFile is an open file without a name: link is the path below /proc that leads to it, path the name it had.
type deletedFile struct{ link, path string }

// holder is one process with its open files; limit is 0 where none is known.
type holder struct {
	pid, open, sockets, limit int
	// more is true where it has more than were counted.
	more bool
}

// share is how much of its limit a process uses, in percent.
func (h holder) share() int {
	if h.limit == 0 {
		return 0
	}
	return h.open * 100 / h.limit
}

const (
	// maxLinks of all processes are read, since each socket is remembered; what is beyond is only counted.
	maxLinks   = 32_768
	maxCounted = 1 << 20
	maxDeleted = 64
)

// surveyOpenFiles looks at the open files of the processes.
func surveyOpenFiles(fs target.FS, pids []int) openFiles {
	seen := openFiles{complete: true, sockets: map[uint64]bool{}}
	links, counted := maxLinks, maxCounted
	for _, pid := range pids {
		one, err := seen.add(fs, pid, &links, &counted)
		if err != nil {
			// One that has ended meanwhile holds nothing.
			seen.complete = seen.complete && os.IsNotExist(err)
			continue
		}
		one.limit = openLimit(fs, pid)
		seen.holders = append(seen.holders, one)
	}
	return seen
}

func (o *openFiles) add(fs target.FS, pid int, links, counted *int) (holder, error) {
	one := holder{pid: pid}
	folder, err := os.Open(fs.Path(pid, "fd"))
	if err != nil {
		return one, err
	}
	defer folder.Close()
	var buffer [unix.PathMax]byte
	for {
		names, err := folder.Readdirnames(512)
		for _, name := range names {
			if one.open++; *links == 0 {
				o.complete = false
				continue
			}
			*links--
			if length, err := unix.Readlinkat(int(folder.Fd()), name, buffer[:]); err == nil {
				o.take(&one, fs, name, buffer[:length])
			}
		}
		if *counted -= len(names); *counted <= 0 {
			o.complete, one.more = false, true
			return one, nil
		}
		if err != nil && err != io.EOF {
			return one, err
		}
		if err != nil {
			return one, nil
		}
	}
}

var (
	socketLink = []byte("socket:[")
	removed    = []byte(" (deleted)")
)

// isOfMemory is whether a file never had a name on a disk.
func isOfMemory(link []byte) bool {
	for _, each := range []string{"/memfd:", "/SYSV", "/dev/shm", "/dev/zero", "/[aio]"} {
		if bytes.HasPrefix(link, []byte(each)) {
			return true
		}
	}
	return false
}

func (o *openFiles) take(one *holder, fs target.FS, name string, link []byte) {
	if inode, is := bytes.CutPrefix(link, socketLink); is {
		one.sockets++
		if number, err := strconv.ParseUint(string(bytes.TrimSuffix(inode, []byte("]"))), 10, 64); err == nil {
			o.sockets[number] = true
		}
		return
	}
	if path, is := bytes.CutSuffix(link, removed); is && link[0] == '/' && len(o.deleted) < maxDeleted && !isOfMemory(link) {
		o.deleted = append(o.deleted, deletedFile{fs.Path(one.pid, "fd", name), string(path)})
	}
}

// openLimit is how many files a process may have open; 0 where that is unlimited or not known.
func openLimit(fs target.FS, pid int) int {
	for _, each := range limitsOf(fs, pid) {
		if each.name == "open files" {
			number, _ := strconv.Atoi(each.soft)
			return number
		}
	}
	return 0
}

// rlimit is one of a process' resource limits, as the kernel writes it.
type rlimit struct{ name, soft string }

// limitsOf reads /proc/PID/limits: names and soft limits stand in columns of fixed width.
func limitsOf(fs target.FS, pid int) []rlimit {
	text, _ := os.ReadFile(fs.Path(pid, "limits"))
	var limits []rlimit
	for line := range strings.Lines(string(text)) {
		const column = 26
		if len(line) <= column || !strings.HasPrefix(line, "Max ") {
			continue
		}
		soft, _, _ := strings.Cut(strings.TrimSpace(line[column:]), " ")
		limits = append(limits, rlimit{strings.TrimSpace(line[len("Max "):column]), soft})
	}
	return limits
}
