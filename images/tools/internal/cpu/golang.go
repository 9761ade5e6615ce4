package cpu

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/pprof/profile"

	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/gopprof"
	"kdebug/tools/internal/target"
)

// recordGo asks the process' own net/http/pprof.
func recordGo(ctx context.Context, t *target.Target, length time.Duration) (*Profile, error) {
	const what = "no pprof answered"
	server, err := gopprof.Find(ctx, t)
	if err != nil {
		return nil, why(ctx, what, err)
	}
	content, err := server.Get(ctx, "profile?seconds="+seconds(length), maxFile)
	if err != nil {
		return nil, why(ctx, what, err)
	}
	stacks, err := parsePprof(content)
	if err != nil {
		return nil, why(ctx, "the profile could not be read", err)
	}
	return &Profile{stacks, flame.Nanoseconds, fmt.Sprintf("the process' own pprof took 100 samples a second of CPU time (%s)", server)}, nil
}

// parsePprof reads a CPU profile of runtime/pprof. It comes from the target: whatever it holds, it is bounded before it is unpacked.
func parsePprof(content []byte) (stacks []flame.Stack, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			stacks, err = nil, fmt.Errorf("not a profile that can be read: %v", problem)
		}
	}()
	if len(content) > 2 && content[0] == 0x1f && content[1] == 0x8b {
		unpacked, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		if content, err = io.ReadAll(io.LimitReader(unpacked, maxFile)); err != nil {
			return nil, err
		}
	}
	parsed, err := profile.ParseUncompressed(content)
	if err != nil {
		return nil, err
	}
	if err := parsed.CheckValid(); err != nil {
		return nil, err
	}
	which := -1
	for at, kind := range parsed.SampleType {
		if kind.Type == "cpu" && kind.Unit == "nanoseconds" {
			which = at
		}
	}
	if which < 0 {
		return nil, fmt.Errorf("it is not a CPU profile")
	}
	for _, sample := range parsed.Sample {
		stack := flame.Stack{Value: sample.Value[which]}
		for at := len(sample.Location) - 1; at >= 0; at-- {
			lines := sample.Location[at].Line
			// The last line is the function that the others were put into.
			for line := len(lines) - 1; line >= 0; line-- {
				if function := lines[line].Function; function != nil {
					stack.Frames = append(stack.Frames, function.Name)
				}
			}
			if len(lines) == 0 {
				stack.Frames = append(stack.Frames, fmt.Sprintf("0x%x", sample.Location[at].Address))
			}
		}
		stacks = append(stacks, stack)
	}
	return stacks, nil
}
