package cpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/python"
	"kdebug/tools/internal/run"
	"kdebug/tools/internal/target"
)

// pythonRate is in samples a second: py-spy's own default.
const pythonRate = 100

// recordPython lets py-spy read the process' memory. It never stops the process.
func recordPython(ctx context.Context, t *target.Target, self target.Self, length time.Duration) (*Profile, error) {
	const what = "py-spy could not read the process"
	if err := need(what, t.Attach(self)); err != nil {
		return nil, err
	}
	// To its standard output, so that nothing is written to a disk: our root may be read-only.
	words := []string{"record", "--pid", strconv.Itoa(t.PID), "--duration", seconds(length), "--rate", strconv.Itoa(pythonRate), "--nonblocking", "--function", "--full-filenames", "--format", "raw", "--output", "/dev/stdout"}
	folded, err := run.Output(ctx, python.PySpy, append(words, python.OfBusy(t)...)...)
	if err != nil {
		return nil, why(ctx, what, pySpySaid(err))
	}
	var stacks []flame.Stack
	own := map[string]bool{}
	for _, sample := range python.Parse(string(folded)) {
		slices.Reverse(sample.Frames)
		for index, frame := range sample.Frames {
			short, isOwn := python.Short(frame)
			sample.Frames[index], own[short] = short, isOwn
		}
		stacks = append(stacks, flame.Stack{Frames: sample.Frames, Value: int64(sample.Value)})
	}
	return &Profile{Stacks: stacks, Own: own, Unit: flame.Samples, Samples: flame.Total(stacks),
		How: fmt.Sprintf("py-spy took %d samples a second without stopping the process", pythonRate)}, nil
}

// pySpySaid leaves of its words what says why.
func pySpySaid(err error) error {
	if _, reason, found := strings.Cut(err.Error(), "Error: "); found && reason != "" {
		return errors.New(reason)
	}
	return err
}

func seconds(length time.Duration) string { return strconv.Itoa(int(length.Seconds())) }
