package pid1

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	drainsWithin = 500 * time.Millisecond
	// copies is how long the runtime may take to write what it has read.
	copies = 20 * time.Millisecond
)

// Drained waits until the runtime has read what the program wrote: it copies standard output and standard error one beside the other, so that words of ours
// could come before older ones of the program.
func Drained(pipes ...*os.File) {
	until := time.Now().Add(drainsWithin)
	for _, each := range pipes {
		for waiting(each) && time.Now().Before(until) {
			time.Sleep(time.Millisecond)
		}
	}
	time.Sleep(copies)
}

// waiting is whether a pipe has bytes that nobody has read. False of anything else.
func waiting(pipe *os.File) bool {
	bytes, err := unix.IoctlGetInt(int(pipe.Fd()), unix.TIOCINQ)
	return err == nil && bytes > 0
}
