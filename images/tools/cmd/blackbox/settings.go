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
}

const (
	defaultLength, maxLength = 25 * time.Minute, 12 * time.Hour
)

var lengthForm = regexp.MustCompile(`^[0-9]{1,5}[smh]$`)

func readSettings(variable func(string) string) (settings, error) {
	read := settings{length: defaultLength}
	if text := variable("BLACKBOX_FOR"); text != "" {
		length, err := time.ParseDuration(text)
		if err != nil || !lengthForm.MatchString(text) || length < time.Second || length > maxLength {
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
	return read, nil
}
