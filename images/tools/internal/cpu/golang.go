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

// maxPprof bounds a profile before it is parsed, which takes many times its size: a minute of a large program has a few MiB.
const maxPprof = 16 << 20

// recordGo asks the process' own net/http/pprof.
func recordGo(ctx context.Context, t *target.Target, length time.Duration) (*Profile, error) {
	const what = "no pprof answered"
	server, err := gopprof.Find(ctx, t)
	if err != nil {
		return nil, why(ctx, what, err)
	}
	content, err := server.Get(ctx, "profile?seconds="+seconds(length), maxPprof)
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
		if content, err = io.ReadAll(io.LimitReader(unpacked, maxPprof+1)); err != nil {
			return nil, err
		}
	}
	if len(content) > maxPprof {
		return nil, flame.ErrTooLarge
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
	frames := 0
	for _, sample := range parsed.Sample {
		stack := flame.Stack{Frames: framesOf(sample), Value: sample.Value[which]}
		if frames += len(stack.Frames); frames > flame.MaxFrames {
			return nil, flame.ErrTooLarge
		}
		stacks = append(stacks, stack)
	}
	return stacks, nil
}

// framesOf gives a sample's frames, root first: no more than are drawn, and one that says that there are more.
func framesOf(sample *profile.Sample) []string {
	var frames []string
	for at := len(sample.Location) - 1; at >= 0; at-- {
		lines := sample.Location[at].Line
		if len(lines) == 0 {
			frames = append(frames, fmt.Sprintf("0x%x", sample.Location[at].Address))
		}
		// The last line is the function that the others were put into.
		for line := len(lines) - 1; line >= 0; line-- {
			if function := lines[line].Function; function != nil {
				frames = append(frames, function.Name)
			}
			if len(frames) > flame.MaxDepth {
				return frames
			}
		}
		if len(frames) > flame.MaxDepth {
			return frames
		}
	}
	return frames
}
