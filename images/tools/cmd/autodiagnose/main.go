// Command autodiagnose is the first look at a running container from an ephemeral container beside it: docs/autodiagnose.md.
//
//	autodiagnose                looks. Exit: 0 looked, whatever was found; 1 could not look.
//	autodiagnose stop RUN-ID    ends the processes of another run. Exit: 0 they have ended; 1 could not; 2 there are none.
package main

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"kdebug/tools/internal/diagnose"
	"kdebug/tools/internal/run"
)

// A look shares the pod's memory with the target, and in a pod that is nearly full the kernel ends one of them. What it holds at once is less than 1 MiB,
// but all that it reads is 2.5 MiB: three or four early collections cost no CPU that can be measured and save 1.5 MiB. One thread at a time saves another
// half a MiB. Without both it was killed in 4.2 MiB of room; with them 3.8 MiB are enough. From memory on, as with very many sockets, it collects more.
const (
	garbage = 25
	memory  = 12 << 20
)

func main() {
	began := time.Now()
	run.WithoutHugePages()
	runtime.MemProfileRate = 0
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(garbage)
	debug.SetMemoryLimit(memory)
	os.Exit(look(began))
}

func look(began time.Time) int {
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
