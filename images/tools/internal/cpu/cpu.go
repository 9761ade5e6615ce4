// Package cpu takes a CPU profile of a running process, with what its runtime offers.
package cpu

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/target"
)

// Profile is where a process spent its CPU time.
type Profile struct {
	Stacks []flame.Stack
	Unit   flame.Unit
	// How it was measured, in words.
	How string
}

// Blind is why there is no profile: What could not be done, which permission lacks, and what would help.
type Blind struct {
	target.Lack
	What string
}

func (b *Blind) Error() string { return b.What + ": " + b.Lacks }

// maxFile bounds what is read of a profile that the target wrote.
const maxFile = 32 << 20

// Record profiles the target's process for so long. Fails with *Blind where a permission or a setting of the target is in the way, and with
// ctx. Whatever it starts in the target ends with it.
func Record(ctx context.Context, t *target.Target, self target.Self, length time.Duration) (*Profile, error) {
	switch t.Runtime {
	case target.Python:
		return recordPython(ctx, t, self, length)
	case target.JVM:
		return recordJVM(ctx, t, self, length)
	case target.Node:
		return recordNode(ctx, t, self, length)
	case target.Go:
		return recordGo(ctx, t, length)
	case target.Unknown:
		if lack := t.Blindness(self); lack != nil {
			return nil, &Blind{*lack, "what runs here could not be seen"}
		}
	}
	return nil, &Blind{target.Lack{Lacks: "a profiler: this image has none for native programs"}, "no profile"}
}

// need is the error for a permission that lacks; nil if none does.
func need(what string, lack *target.Lack) error {
	if lack == nil {
		return nil
	}
	return &Blind{*lack, what}
}

// why says why something else failed.
func why(ctx context.Context, what string, err error) error {
	var blind *Blind
	switch {
	case errors.As(err, &blind):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	return &Blind{target.Lack{Lacks: strings.ReplaceAll(err.Error(), "\n", "; ")}, what}
}
