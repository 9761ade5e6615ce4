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
	text, err := os.ReadFile(fs.Path(pid, "task", strconv.Itoa(id), "schedstat"))
	if fields := strings.Fields(string(text)); err == nil && len(fields) == 3 {
		now.ran, now.waited = nanoseconds(fields[0]), nanoseconds(fields[1])
		now.runs, _ = strconv.ParseInt(fields[2], 10, 64)
		now.counted = true
		return now
	}
	// A kernel that counts no waits (without CONFIG_SCHED_INFO).
	if used, _, err := fs.Times(fmt.Sprintf("%d/task/%d", pid, id)); err == nil {
		now.ran = time.Duration(used) * tick
	}
	return now
}

func nanoseconds(text string) time.Duration {
	number, _ := strconv.ParseInt(text, 10, 64)
	return time.Duration(number)
}
