package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/sockets"
	"kdebug/tools/internal/target"
)

// gauge measures what a condition is about. It is asked ten times a second: it keeps its files open and allocates little.
type gauge interface {
	// read gives the value in the unit of the condition; false where it is not known now.
	read(now time.Time) (value float64, known bool)
	// words are what was read last: "59 of 64 MiB".
	words() string
}

// procFile is a file of /proc that is read again and again.
type procFile struct {
	file *os.File
	data [4 << 10]byte
}

func openProc(fs target.FS, pid int, name string) *procFile {
	file, err := os.Open(fs.Path(pid, name))
	if err != nil {
		return &procFile{}
	}
	return &procFile{file: file}
}

// read is what it has now; nothing where the process is gone or nobody may look.
func (p *procFile) read() []byte {
	if p.file == nil {
		return nil
	}
	size, _ := p.file.ReadAt(p.data[:], 0)
	return p.data[:size]
}

// number is the one behind a label; false where it is not there.
func number(text []byte, label string) (int64, bool) {
	at := bytes.Index(text, []byte(label))
	if at < 0 {
		return 0, false
	}
	rest := bytes.TrimLeft(text[at+len(label):], " \t")
	value, digits := int64(0), 0
	for ; digits < len(rest) && digits < 18 && rest[digits] >= '0' && rest[digits] <= '9'; digits++ {
		value = value*10 + int64(rest[digits]-'0')
	}
	return value, digits > 0
}

// filesGauge is how many files a process has open.
type filesGauge struct {
	folder       string
	limits       *procFile
	isShare      bool
	count, limit int64
}

func (g *filesGauge) read(time.Time) (float64, bool) {
	count, known := countFiles(g.folder)
	if !known {
		return 0, false
	}
	g.count = count
	if !g.isShare {
		return float64(count), true
	}
	limit, limited := number(g.limits.read(), "Max open files")
	g.limit = limit
	return 100 * float64(count) / float64(max(limit, 1)), limited && limit > 0
}

func (g *filesGauge) words() string {
	if g.limit > 0 {
		return fmt.Sprintf("%d of %d", g.count, g.limit)
	}
	return fmt.Sprint(g.count)
}

// countFiles is how many files are open: the size of the folder since Linux 6.2, else by its entries.
func countFiles(folder string) (int64, bool) {
	var stat unix.Stat_t
	if unix.Stat(folder, &stat) != nil {
		return 0, false
	}
	if stat.Size > 0 {
		return stat.Size, true
	}
	opened, err := os.Open(folder)
	if err != nil {
		return 0, false
	}
	defer opened.Close()
	count := int64(0)
	for {
		const atOnce = 256
		names, err := opened.Readdirnames(atOnce)
		count += int64(len(names))
		if err != nil || len(names) == 0 {
			return count, true
		}
	}
}

// threadsGauge is how many threads a process has.
type threadsGauge struct {
	status *procFile
	count  int64
}

func (g *threadsGauge) read(time.Time) (float64, bool) {
	count, known := number(g.status.read(), "\nThreads:")
	g.count = count
	return float64(count), known
}

func (g *threadsGauge) words() string { return fmt.Sprint(g.count) }

// queueGauge is the longest queue of connections of the pod that wait to be accepted.
type queueGauge struct{ longest sockets.Socket }

// read counts a queue that is full as longer than every number: there connections are lost, however short it is.
func (g *queueGauge) read(time.Time) (float64, bool) {
	g.longest = sockets.Socket{}
	err := sockets.Listeners(func(each sockets.Socket) {
		if each.Waiting > g.longest.Waiting || isFull(each) && !isFull(g.longest) {
			g.longest = each
		}
	})
	if isFull(g.longest) {
		return math.Inf(1), err == nil
	}
	return float64(g.longest.Waiting), err == nil
}

// isFull: the kernel lets one more wait than it says.
func isFull(each sockets.Socket) bool { return each.Room > 0 && each.Waiting > each.Room }

func (g *queueGauge) words() string {
	words := fmt.Sprintf("%s at port %d", report.Counted(int(g.longest.Waiting), "waits", "wait"), g.longest.Local.Port())
	if isFull(g.longest) {
		words += ", which is full"
	}
	return words
}

// silenceGauge is for how long a process has written nothing by write(2), to its log or anywhere else.
type silenceGauge struct {
	io      *procFile
	written int64
	since   time.Time
	now     time.Duration
}

func (g *silenceGauge) read(now time.Time) (float64, bool) {
	written, known := number(g.io.read(), "wchar:")
	if !known {
		return 0, false
	}
	if g.since.IsZero() || written != g.written {
		g.written, g.since = written, now
	}
	g.now = now.Sub(g.since)
	return g.now.Seconds(), true
}

func (g *silenceGauge) words() string { return spanOf(g.now) }
