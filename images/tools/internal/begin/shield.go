package begin

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"kdebug/tools/internal/run"
)

// ofGo are the variables that the runtime of a program of Go obeys: those of the program are not meant for us.
var ofGo = map[string]bool{"GODEBUG": true, "GOGC": true, "GOMEMLIMIT": true, "GOMAXPROCS": true}

const (
	hidden = "KDEBUG_OF_PROGRAM_"
	// refused is the variable of who has no huge pages, but for the program.
	refused = "KDEBUG_NO_HUGE_PAGES=1"
)

// Shield starts this process again without the variables that would change how we run, and without huge pages (run.WithoutHugePages); the program gets them.
// An error leaves us as we are.
func Shield() {
	renamed, any := hide(Environment())
	if run.WithoutHugePages() {
		renamed, any = append(renamed, refused), true
	}
	if any {
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
	variables = slices.DeleteFunc(variables, isRefused)
	for at, each := range variables {
		variables[at] = strings.TrimPrefix(each, hidden)
	}
	return variables
}

func isRefused(variable string) bool { return variable == refused }
