package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"kdebug/tools/internal/begin"
	"kdebug/tools/internal/carry"
	"kdebug/tools/internal/pid1"
	"kdebug/tools/internal/report"
	limits "kdebug/tools/internal/run"
	"kdebug/tools/internal/target"
)

// The words that it knows. It is carried into a container of the target's image, and is there the parent of the target's program.
const (
	carryWord = "carry"
	againWord = "once-more"
)

// refused is the exit code where the program was not started at all.
const refused = 125

// obey does what the words say, and ends this process; it returns where it does not know them.
func obey(words []string) {
	if len(words) == 0 {
		return
	}
	switch words[0] {
	case begin.Word:
		os.Exit(begin.Run(words[1:]))
	case carryWord:
		os.Exit(carryTo(words[1:], os.Stdout, openLast(terminationLog)))
	case againWord:
		begin.Shield()
		os.Exit(onceMore(words[1:], os.Stdout, openLast(terminationLog)))
	}
}

// carryTo copies this program to a path, and gives the exit code.
func carryTo(words []string, out io.Writer, log *last) int {
	if len(words) != 1 || words[0] == "" {
		return refuse(out, log, "Not carried: carry takes the one path to copy this program to.", 1)
	}
	if why := tooLate(); why != "" {
		return refuse(out, log, why, 1)
	}
	key, err := carry.Copy(words[0])
	if err != nil {
		return refuse(out, log, fmt.Sprintf("Not carried: %s.", err), 1)
	}
	log.write([]byte(key))
	return 0
}

// tooLate says why nothing may be done any more; "" where it may.
func tooLate() string {
	err := target.CheckNotAfter(time.Now())
	switch {
	case err == nil:
		return ""
	case errors.Is(err, target.ErrTooLate):
		return limits.TooLate
	}
	return "Not started: " + err.Error() + "."
}

// refuse says in one line why nothing was done.
func refuse(out io.Writer, log *last, why string, code int) int {
	line := report.Line(why, 300) + "\n"
	_, _ = io.WriteString(out, line)
	log.write([]byte(line))
	return code
}

// mayBeParent says why this process may not be the parent of a second run; "" where it may.
func mayBeParent() string {
	if !pid1.Is() {
		return "Not started: this must be the first process of a container with a process namespace of its own."
	}
	return tooLate()
}
