package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/report"
)

// kind is what a condition is about.
type kind string

const (
	ofMemory  kind = "memory"
	ofFiles   kind = "fds"
	ofThreads kind = "threads"
	ofQueue   kind = "queue"
	ofPort    kind = "port"
	ofSilence kind = "quiet"
)

// unitsOf are the units that each kind of condition has, with what one is worth: bytes, seconds, pieces, or a share where it is 0.
var unitsOf = map[kind]map[string]float64{
	ofMemory: {"%": 0, "MiB": 1 << 20, "GiB": 1 << 30}, ofFiles: {"": 1, "%": 0}, ofThreads: {"": 1}, ofQueue: {"": 1},
	ofPort: {"ms": 0.001, "s": 1}, ofSilence: {"s": 1, "m": 60},
}

// condition is one of BLACKBOX_WHEN.
type condition struct {
	kind kind
	// text is as it was set.
	text string
	// most is what must be passed: in percent where isShare, else in bytes, seconds or pieces.
	most    float64
	isShare bool
	port    int
}

const (
	maxConditions = 8
	maxPort       = 65535
	whenForms     = "memory>92%, fds>90%, threads>500, queue>100, port:8080>2s or quiet>60s"
)

// readConditions reads BLACKBOX_WHEN. An error names the word that is wrong, and the right ones.
func readConditions(text string) ([]condition, error) {
	var all []condition
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		each, err := readCondition(word)
		if err != nil {
			return nil, fmt.Errorf("BLACKBOX_WHEN: %w", err)
		}
		all = append(all, each)
	}
	if len(all) > maxConditions {
		return nil, fmt.Errorf("BLACKBOX_WHEN has more than %d conditions", maxConditions)
	}
	return all, nil
}

func readCondition(word string) (condition, error) {
	name, value, found := strings.Cut(word, ">")
	if !found {
		return condition{}, fmt.Errorf("%q is no condition, as %s", report.Line(word, 40), whenForms)
	}
	read := condition{kind: kind(name), text: word}
	if number, isPort := strings.CutPrefix(name, "port:"); isPort {
		port, err := strconv.Atoi(number)
		if err != nil || port < 1 || port > maxPort {
			return condition{}, fmt.Errorf("%q is no port, as port:8080>2s", report.Line(number, 40))
		}
		read.kind, read.port = ofPort, port
	} else if _, known := unitsOf[read.kind]; !known || read.kind == ofPort {
		return condition{}, fmt.Errorf("%q is not memory, fds, threads, queue, port:NUMBER or quiet", report.Line(name, 40))
	}
	digits := strings.TrimRight(value, "%MiBGsm")
	worth, known := unitsOf[read.kind][value[len(digits):]]
	number, err := strconv.ParseFloat(digits, 64)
	if err != nil || !known || number <= 0 || number > 1e9 || strings.Trim(digits, "0123456789.") != "" {
		return condition{}, fmt.Errorf("%q is no value of %s: a number%s", report.Line(value, 40), report.Line(name, 40), unitWords(read.kind))
	}
	if read.isShare = worth == 0; read.isShare {
		if worth = 1; number >= 100 {
			return condition{}, fmt.Errorf("%q is never passed: less than 100%%", word)
		}
	}
	read.most = number * worth
	return read, nil
}

// unitWords is " with %, GiB or MiB".
func unitWords(of kind) string {
	var units []string
	mayLack := ""
	for unit := range unitsOf[of] {
		if unit == "" {
			mayLack = " alone"
			continue
		}
		units = append(units, unit)
	}
	if len(units) == 0 {
		return mayLack
	}
	slices.Sort(units)
	words := " with " + strings.Join(units, " or ")
	if mayLack != "" {
		words = mayLack + " or" + words
	}
	return words
}

// every is how often it is asked whether the condition holds, and confirm how long after it did first it is asked again.
func (c condition) every() (every, confirm time.Duration) {
	switch c.kind {
	case ofMemory:
		return 100 * time.Millisecond, 10 * time.Millisecond
	case ofPort:
		return 100 * time.Millisecond, 100 * time.Millisecond
	}
	return time.Second, 200 * time.Millisecond
}

// words says that it was passed, and by what: "memory passed 92 % (59 of 64 MiB)".
func (c condition) words(now string) string {
	most := strings.TrimPrefix(c.text[strings.IndexByte(c.text, '>'):], ">")
	for _, unit := range []string{"%", "MiB", "GiB", "ms", "s", "m"} {
		if number, has := strings.CutSuffix(most, unit); has {
			most = number + " " + unit
			break
		}
	}
	switch c.kind {
	case ofMemory:
		return fmt.Sprintf("memory passed %s (%s)", most, now)
	case ofFiles:
		return fmt.Sprintf("open files passed %s (%s)", most, now)
	case ofThreads:
		return fmt.Sprintf("threads passed %s (%s)", most, now)
	case ofQueue:
		return fmt.Sprintf("the accept queue passed %s (%s)", most, now)
	case ofPort:
		return fmt.Sprintf("port %d took longer than %s to accept (%s)", c.port, most, now)
	}
	return fmt.Sprintf("nothing was written for %s (%s)", most, now)
}
