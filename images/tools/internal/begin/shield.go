package begin

import (
	"os"
	"strings"
	"syscall"
)

// ofGo are the variables that the runtime of a program of Go obeys: those of the program are not meant for us.
var ofGo = map[string]bool{"GODEBUG": true, "GOGC": true, "GOMEMLIMIT": true, "GOMAXPROCS": true}

const hidden = "KDEBUG_OF_PROGRAM_"

// Shield starts this process again without the variables that would change how we run; the program gets them. An error leaves us as we are.
func Shield() {
	variables := Environment()
	if renamed, any := hide(variables); any {
		_ = syscall.Exec("/proc/self/exe", os.Args, renamed)
	}
}

func hide(variables []string) (renamed []string, any bool) {
	for _, each := range variables {
		if name, _, _ := strings.Cut(each, "="); ofGo[name] {
			each, any = hidden+each, true
		}
		renamed = append(renamed, each)
	}
	return renamed, any
}

// shown is the environment that the program is to get.
func shown(variables []string) []string {
	for at, each := range variables {
		variables[at] = strings.TrimPrefix(each, hidden)
	}
	return variables
}
