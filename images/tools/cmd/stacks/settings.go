package main

import (
	"fmt"
	"strconv"
	"time"
)

// settings are what people may set; docs/diagnostic-images.md has the table.
type settings struct {
	// seconds is how long is measured; 0: 3 s, and 10 s for Node.js, which shows nothing else.
	seconds time.Duration
	// pid is the process to look at; 0: those that matter most.
	pid int
	// histogram counts the objects of a JVM's heap, which stops it.
	histogram bool
	// toItsLog lets a JVM write its threads into its own log where nothing else works.
	toItsLog bool
}

const maxSeconds = 60

func readSettings(variable func(string) string) (settings, error) {
	var read settings
	if text := variable("STACKS_SECONDS"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds < 1 || seconds > maxSeconds {
			return read, fmt.Errorf("STACKS_SECONDS is not a whole number from 1 to %d", maxSeconds)
		}
		read.seconds = time.Duration(seconds) * time.Second
	}
	if text := variable("STACKS_PID"); text != "" {
		pid, err := strconv.Atoi(text)
		if err != nil || pid < 1 {
			return read, fmt.Errorf("STACKS_PID is not the number of a process")
		}
		read.pid = pid
	}
	for name, wish := range map[string]*bool{"STACKS_HISTOGRAM": &read.histogram, "STACKS_TO_LOG": &read.toItsLog} {
		switch variable(name) {
		case "", "no":
		case "yes":
			*wish = true
		default:
			return read, fmt.Errorf("%s is neither yes nor no", name)
		}
	}
	return read, nil
}

// sample is how long is measured where the default is another.
func (s settings) sample(otherwise time.Duration) time.Duration {
	if s.seconds > 0 {
		return s.seconds
	}
	return otherwise
}
