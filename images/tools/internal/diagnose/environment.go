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
			variables, _ = beginningOf(fs, pid, "environ", maxEnvironment)
		}
		arguments, _ := beginningOf(fs, pid, "cmdline", maxEnvironment)
		look.environment.add(arguments, variables)
	}
	_, err := beginningOf(fs, look.Target.PID, "environ", 1)
	s.blind = !look.Target.Readable || err != nil
}

// beginningOf reads the beginning of a process' file.
func beginningOf(fs target.FS, pid int, name string, most int64) ([]byte, error) {
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
	for _, line := range wrapped(look.environment.named, maxListLine) {
		part.Say("%s", line)
	}
	part.Section.Text = fmt.Sprintf("%d names and %d of services; values are never read out", look.environment.count, look.environment.services)
	return part
}

// maxListLine leaves room in a line for people for the longest name.
const maxListLine = 160

// wrapped puts words into lines, each begun anew once it has so many characters.
func wrapped(words []string, length int) []string {
	var lines []string
	var line strings.Builder
	for _, word := range words {
		if line.Len() > length {
			lines = append(lines, line.String())
			line.Reset()
		}
		if line.Len() > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(word)
	}
	if line.Len() > 0 {
		lines = append(lines, line.String())
	}
	return lines
}
