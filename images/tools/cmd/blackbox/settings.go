package main

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// settings are what people may set; docs/blackbox.md has the table.
type settings struct {
	// length is how long it waits for the end of the target.
	length time.Duration
	// pid is the process to watch; 0: the one that matters most, and the container's first.
	pid int
	// when are the conditions at which it looks at the living target; none: it waits for its end alone.
	when []condition
	// summary is whether it stops no thread then; shots is how often it looks.
	summary bool
	shots   int
}

const (
	defaultLength, maxLength = 25 * time.Minute, 12 * time.Hour
)

var lengthForm = regexp.MustCompile(`^[0-9]{1,5}[smh]$`)

// readLength reads a time from 1s to 12h, in one unit; false for another text.
func readLength(text string) (time.Duration, bool) {
	length, err := time.ParseDuration(text)
	return length, err == nil && lengthForm.MatchString(text) && length >= time.Second && length <= maxLength
}

func readSettings(variable func(string) string) (settings, error) {
	read := settings{length: defaultLength, shots: 1}
	if text := variable("BLACKBOX_FOR"); text != "" {
		length, right := readLength(text)
		if !right {
			return read, fmt.Errorf("BLACKBOX_FOR is no time from 1s to %.0fh, as 30m", maxLength.Hours())
		}
		read.length = length
	}
	if text := variable("BLACKBOX_PID"); text != "" {
		pid, err := strconv.Atoi(text)
		if err != nil || pid < 1 {
			return read, fmt.Errorf("BLACKBOX_PID is not the number of a process")
		}
		read.pid = pid
	}
	return read, read.readTripwires(variable)
}

const maxShots = 3

// readTripwires reads what says when to look at the living target, and how.
func (s *settings) readTripwires(variable func(string) string) (err error) {
	if text := variable("BLACKBOX_WHEN"); text != "" {
		if s.when, err = readConditions(text); err != nil {
			return err
		}
	}
	switch variable("BLACKBOX_THEN") {
	case "", "stacks":
	case "summary":
		s.summary = true
	default:
		return fmt.Errorf("BLACKBOX_THEN is not stacks or summary")
	}
	if text := variable("BLACKBOX_SHOTS"); text != "" {
		if s.shots, err = strconv.Atoi(text); err != nil || s.shots < 1 || s.shots > maxShots {
			return fmt.Errorf("BLACKBOX_SHOTS is no number from 1 to %d", maxShots)
		}
	}
	return nil
}
