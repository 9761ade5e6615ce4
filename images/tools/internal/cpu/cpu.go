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
	// Own are the frames of the program's own code, where the names themselves do not tell: of Python.
	Own    map[string]bool
	Stacks []flame.Stack
	Unit   flame.Unit
	// Samples is how many samples the stacks are made of: a share of few says nothing.
	Samples int64
	// Collecting is the share of the time that the process spent in its garbage collector, between 0 and 1, where the profile says so.
	Collecting float64
	// Heap says how full its heap is, as "old generation 99 % of 30 MiB"; "" where the runtime does not say.
	Heap string
	// Load is the CPU of the process while the profile was taken, without its beginning and its end; nil where that makes no difference.
	Load *Load
	// How it was measured, in words.
	How string
}

// Blind is why there is no profile: What could not be done, which permission lacks, and what would help.
type Blind struct {
	target.Lack
	What string
}

func (b *Blind) Error() string { return b.What + ": " + b.Lacks }

// ErrNative is for a program whose runtime this image cannot ask, since it has none.
var ErrNative = errors.New("this image has no profiler for native programs")

// maxFile bounds what is read of a profile that the target wrote.
const maxFile = 32 << 20

// Names of what is no function of the program, in a profile: root frames of their own.
const (
	Collector = "(garbage collector)"
	Compiler  = "(compiler)"
	// Program is native code, as V8 calls it.
	Program = "(program)"
	// Elsewhere is the CPU time of a thread of the program in which its runtime shows no function.
	Elsewhere = "(native code)"
	idle      = "(idle)"
)

// IsFunction is whether a name of a profile is that of a function.
func IsFunction(name string) bool {
	switch name {
	case Collector, Compiler, Program, Elsewhere, idle, flame.Other, flame.Deeper:
		return false
	}
	return true
}

// Record profiles the target's process for so long. Fails with *Blind where a permission, a setting or too little memory of the target is in the
// way, with ErrNative, and with ctx; what is known of the collector and the heap is in the profile then too, which is otherwise nil. Whatever it starts in the target ends with it.
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
	return nil, ErrNative
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

// OwnOf is the innermost frame of the program's own code, of frames with the innermost first; "" where Own has none of them.
func (p *Profile) OwnOf(frames []string) string {
	for _, frame := range frames {
		if p.Own[frame] {
			return frame
		}
	}
	return ""
}
