package diagnose

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"kdebug/tools/internal/report"
)

// maxNumbers bounds what is read of a file that a target may have made.
const maxNumbers = 64 << 10

// openFile opens a file that a target may have made: it does not wait for the writer of a pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// readFile gives the first bytes of a file, or nothing where it cannot be read or is no regular file; at most maxNumbers.
func readFile(path string) string {
	file, err := openFile(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(file, maxNumbers))
	return string(text)
}

// lengthOf is a length of time in whole words.
func lengthOf(length time.Duration) string {
	seconds := int64(length / time.Second)
	switch {
	case seconds >= 172800:
		return fmt.Sprintf("%d days", seconds/86400)
	case seconds >= 7200:
		return fmt.Sprintf("%d hours", seconds/3600)
	case seconds >= 120:
		return fmt.Sprintf("%d minutes", seconds/60)
	}
	return report.Counted(seconds, "second")
}

// plain makes printable ASCII of words that the target chose: kdebug's limits are in bytes, and a look-alike letter must not pass for another.
func plain(text string) string {
	return strings.Map(func(char rune) rune {
		if char == '“' || char == '”' {
			return '"'
		}
		if char < ' ' || char > '~' {
			return '?'
		}
		return char
	}, text)
}
