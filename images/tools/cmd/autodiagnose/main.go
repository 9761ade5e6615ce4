// Command autodiagnose is the first look at a running container from an ephemeral container beside it: docs/autodiagnose.md.
//
//	autodiagnose                looks. Exit: 0 looked, whatever was found; 1 could not look.
//	autodiagnose stop RUN-ID    ends the processes of another run. Exit: 0 they have ended; 1 could not; 2 there are none.
package main

import (
	"errors"
	"os"
	"runtime/debug"
	"time"

	"kdebug/tools/internal/diagnose"
)

// A look shares the pod's memory with the target and lives for seconds: it collects no garbage until there is this much.
const memory = 12 << 20

func main() {
	began := time.Now()
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memory)
	os.Exit(run(began))
}

func run(began time.Time) int {
	if words := os.Args[1:]; len(words) > 0 && words[0] == diagnose.VolumesCommand {
		diagnose.AnswerVolumes(os.Stdout, words[1:])
		return 0
	}
	settings, err := diagnose.ReadSettings(os.Getenv)
	if err != nil {
		return diagnose.Refuse(os.Stdout, settings, began, err)
	}
	words := os.Args[1:]
	switch {
	case len(words) == 0 || words[0] == "":
		return diagnose.Run(os.Stdout, settings, began)
	case words[0] == "stop":
		return diagnose.Stop(os.Stdout, settings, began, append(words[1:], "")[0])
	}
	return diagnose.Refuse(os.Stdout, settings, began, errors.New("the only command is: stop RUN-ID"))
}
