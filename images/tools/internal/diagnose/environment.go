package diagnose

import (
	"fmt"
	"io"
	"os"
	"strings"

	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/target"
)

// environmentSection names the variables of the target's processes; a value is never told, except as a number that sizes a runtime.
type environmentSection struct{ blind bool }

const (
	// maxEnvironments is how many processes are asked, maxEnvironment how much of the variables of one is read.
	maxEnvironments = 32
	maxEnvironment  = 256 << 10
)

func (s *environmentSection) begin(look *Look) {
	fs := look.Target.FS()
	for _, pid := range look.tree.pids[:min(len(look.tree.pids), maxEnvironments)] {
		var variables []byte
		if look.Target.Readable {
			variables, _ = readProc(fs, pid, "environ", maxEnvironment)
		}
		arguments, _ := readProc(fs, pid, "cmdline", maxEnvironment)
		look.environment.add(arguments, variables)
	}
	_, err := readProc(fs, look.Target.PID, "environ", 1)
	s.blind = !look.Target.Readable || err != nil
}

// readProc reads the beginning of a process' file.
func readProc(fs target.FS, pid int, name string, most int64) ([]byte, error) {
	file, err := os.Open(fs.Path(pid, name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

func (s *environmentSection) end(look *Look) *rules.Part {
	part := rules.NewPart("environment")
	if s.blind {
		return look.blind(part, "the target's environment is not readable")
	}
	if len(look.environment.named) > 0 {
		part.Say("%s", strings.Join(look.environment.named, " "))
	}
	part.Section.Text = fmt.Sprintf("%d names and %d of services; values are never read out", look.environment.count, look.environment.services)
	return part
}
