package cpu

import (
	"context"
	"errors"
	"time"

	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/node"
	"kdebug/tools/internal/target"
)

// recordNode opens the process' inspector, on loopback, takes a CPU profile of V8 and closes the inspector again.
func recordNode(ctx context.Context, t *target.Target, self target.Self, length time.Duration) (*Profile, error) {
	const what = "the inspector could not be used"
	if err := need(what, node.Lack(t, self)); err != nil {
		return nil, err
	}
	profile, err := node.ProfileOf(ctx, t, length)
	var noRoom *node.ErrNoRoom
	switch {
	case errors.As(err, &noRoom) && profile != nil:
		// What the collector does is known all the same.
		return &Profile{Collecting: profile.Collecting, Heap: profile.Heap.Words()}, &Blind{target.Lack{Lacks: noRoom.Words}, what}
	case err != nil:
		return nil, why(ctx, what, err)
	}
	how := "V8's own profiler took 1,000 samples a second, through the inspector, which was closed again"
	if profile.WasOpen != "" {
		how = "V8's own profiler took 1,000 samples a second, through the inspector, which was already open at " + profile.WasOpen
	}
	busy := make([]flame.Stack, 0, len(profile.Stacks))
	for _, stack := range profile.Stacks {
		if len(stack.Frames) > 0 && stack.Frames[0] != idle {
			busy = append(busy, stack)
		}
	}
	return &Profile{Stacks: busy, Unit: flame.Microseconds, Samples: flame.Total(busy) / time.Millisecond.Microseconds(), Collecting: profile.Collecting, Heap: profile.Heap.Words(), How: how}, nil
}
