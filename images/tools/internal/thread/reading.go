package thread

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/target"
)

// reading is a thread at one moment.
type reading struct {
	state byte
	// ran and waited are the CPU time it had, and was ready for without having it, since it began.
	ran, waited time.Duration
	// runs counts how often it came on a CPU; counted is whether the kernel tells.
	runs    int64
	counted bool
}

// tick is the unit of CPU time in /proc/PID/stat, on every platform that containers run on (USER_HZ).
const tick = 10 * time.Millisecond

// readingOf reads a thread that may be gone: then its state is 0.
func readingOf(fs target.FS, pid, id int) reading {
	var now reading
	text, _ := os.ReadFile(fs.Path(pid, "task", strconv.Itoa(id), "stat"))
	// The name in parentheses may hold anything, also ") ".
	if fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])); len(fields) > 0 {
		now.state = fields[0][0]
	}
	if told, counted := schedstat(fs, pid, id); counted {
		told.state = now.state
		return told
	}
	// A kernel that counts no waits (without CONFIG_SCHED_INFO).
	if used, _, err := fs.Times(fmt.Sprintf("%d/task/%d", pid, id)); err == nil {
		now.ran = time.Duration(used) * tick
	}
	return now
}

// schedstat is what the kernel counts of a thread's CPU; false where it does not.
func schedstat(fs target.FS, pid, id int) (reading, bool) {
	text, err := os.ReadFile(fs.Path(pid, "task", strconv.Itoa(id), "schedstat"))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) != 3 {
		return reading{}, false
	}
	now := reading{ran: nanoseconds(fields[0]), waited: nanoseconds(fields[1]), counted: true}
	now.runs, _ = strconv.ParseInt(fields[2], 10, 64)
	return now, true
}

func nanoseconds(text string) time.Duration {
	number, _ := strconv.ParseInt(text, 10, 64)
	return time.Duration(number)
}
