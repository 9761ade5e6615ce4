package jvm

import (
	"regexp"
	"strconv"
	"strings"

	"kdebug/tools/internal/stack"
)

var (
	// "name" #12 [34] daemon prio=5 … nid=0x74b waiting for monitor entry  [0x…]; nid is decimal from JDK 19 on.
	header   = regexp.MustCompile(`^"(.*)" (?:#\d+ )?.*\bnid=(0x[0-9a-f]+|\d+)`)
	state    = regexp.MustCompile(`^\s+java\.lang\.Thread\.State: (\w+)`)
	waitsFor = regexp.MustCompile(`^\s+- (?:waiting to lock|parking to wait for\s+|waiting to re-lock in wait\(\)) ?<(0x[0-9a-f]+)> \(an? (.+)\)`)
	waitsOn  = regexp.MustCompile(`^\s+- waiting on <(0x[0-9a-f]+)>`)
	holds    = regexp.MustCompile(`^\s+- (?:locked )?<(0x[0-9a-f]+)> \(an? .+\)`)
	inLock   = regexp.MustCompile(`^"(.*)":$`)
)

// MaxThreads is how many threads are told apart; the text has all.
const MaxThreads = 20_000

// What is told of deadlocks; the text has all. A target can write any number of them, and each is looked up among all threads.
const maxDeadlocks, maxDeadlocked = 20, 100

// Parse takes the Java threads and the deadlocks out of an answer to Thread.print -l.
func Parse(text string) ([]stack.Thread, [][]string) {
	var threads []stack.Thread
	var deadlocks [][]string
	var thread *stack.Thread
	// The monitor that the thread gave up to wait for a notification of it; "locked" stands under it all the same.
	var gaveUp string
	// The second list under a deadlock repeats the stacks.
	inDeadlock := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "Found one Java-level deadlock") || strings.HasPrefix(line, "Found a total of") || strings.HasPrefix(line, "Found one deadlock"):
			thread, inDeadlock = nil, true
			if len(deadlocks) < maxDeadlocks {
				deadlocks = append(deadlocks, nil)
			}
		case strings.HasPrefix(line, "Java stack information for the threads listed above"):
			inDeadlock, thread = false, nil
		case inDeadlock:
			last := len(deadlocks) - 1
			if name := inLock.FindStringSubmatch(line); name != nil && len(deadlocks[last]) < maxDeadlocked {
				deadlocks[last] = append(deadlocks[last], name[1])
			}
		case strings.HasPrefix(line, `"`):
			thread, gaveUp = nil, ""
			found := header.FindStringSubmatch(line)
			if found == nil || len(threads) == MaxThreads {
				continue
			}
			id, _ := strconv.ParseInt(found[2], 0, 64)
			threads = append(threads, stack.Thread{ID: int(id), Name: found[1]})
			thread = &threads[len(threads)-1]
		case thread != nil:
			if found := waitsOn.FindStringSubmatch(line); found != nil {
				gaveUp = found[1]
			}
			readLine(thread, line, gaveUp)
		}
	}
	// Threads of the machine itself have no Java state; they are in the text.
	java := threads[:0]
	for _, each := range threads {
		if each.State != "" {
			java = append(java, each)
		}
	}
	return java, withNames(deadlocks)
}

func readLine(thread *stack.Thread, line, gaveUp string) {
	if frame, found := strings.CutPrefix(line, "\tat "); found {
		thread.Frames = append(thread.Frames, frame)
	} else if found := state.FindStringSubmatch(line); found != nil {
		thread.State = found[1]
	} else if found := waitsFor.FindStringSubmatch(line); found != nil {
		// Until it was notified it waits for that alone, whoever has the monitor.
		if thread.State != "BLOCKED" && strings.Contains(line, "- waiting to re-lock") {
			return
		}
		thread.WaitsFor, thread.WaitsForKind = found[1], found[2]
	} else if found := holds.FindStringSubmatch(line); found != nil && found[1] != gaveUp {
		thread.Holds = append(thread.Holds, found[1])
	}
}

func withNames(deadlocks [][]string) [][]string {
	var named [][]string
	for _, names := range deadlocks {
		if len(names) > 0 {
			named = append(named, names)
		}
	}
	return named
}
