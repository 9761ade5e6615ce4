package cpu

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"slices"
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
	return &Profile{Stacks: stacks, Unit: flame.Nanoseconds, Samples: flame.Total(stacks) / int64(period), Collecting: collecting(stacks),
		How: fmt.Sprintf("the process' own pprof took 100 samples a second of CPU time (%s)", server)}, nil
}

// period is the CPU time between two samples of pprof.
const period = 10 * time.Millisecond

// collecting is the share of the CPU time that the collector takes, between 0 and 1; what it does on a CPU that is idle otherwise costs the
// program nothing.
func collecting(stacks []flame.Stack) float64 {
	collector := int64(0)
	for _, stack := range stacks {
		named := func(names ...string) bool {
			return slices.ContainsFunc(stack.Frames, func(frame string) bool { return slices.Contains(names, frame) })
		}
		if named("runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge") && !named("runtime.gcDrainMarkWorkerIdle") {
			collector += stack.Value
		}
	}
	return float64(collector) / float64(max(flame.Total(stacks), 1))
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
