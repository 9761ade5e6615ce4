// Package jfr reads the CPU samples of a recording of Java Flight Recorder.
package jfr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/grafana/jfr-parser/parser"
	"github.com/grafana/jfr-parser/parser/types"

	"kdebug/tools/internal/flame"
)

// Settings is a configuration that records which method each running thread is in, every 10 ms, and nothing else. What the recorder would
// else write by itself holds secrets: arguments, system properties, the environment.
const Settings = `<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0" label="kdebug" description="CPU samples only" provider="kdebug">
  <event name="jdk.ExecutionSample"><setting name="enabled">true</setting><setting name="period">10 ms</setting></event>
  <event name="jdk.JVMInformation"><setting name="enabled">false</setting></event>
  <event name="jdk.InitialSystemProperty"><setting name="enabled">false</setting></event>
  <event name="jdk.InitialEnvironmentVariable"><setting name="enabled">false</setting></event>
  <event name="jdk.SystemProcess"><setting name="enabled">false</setting></event>
</configuration>
`

// maxSamples is more than 5 threads every 10 ms in 60 s make: the recorder takes no more.
const maxSamples = 200_000

// Stack is one that a thread was seen with, Value times. Thread is its id in the namespace of the JVM; 0 where the recording does not say.
type Stack struct {
	flame.Stack
	Thread int
}

// Parse gives the stacks of each thread, without those of the recorder itself. The recording comes from the target and may be anything: whatever it holds, Parse ends with stacks, with an
// error, or when ctx does. The caller bounds its size.
func Parse(ctx context.Context, recording []byte) ([]Stack, error) {
	type result struct {
		stacks []Stack
		err    error
	}
	// The library has no bound for a recording whose events lead back to themselves.
	results := make(chan result, 1)
	go func() {
		stacks, err := parse(recording)
		results <- result{stacks, err}
	}()
	select {
	case result := <-results:
		return result.stacks, result.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func parse(recording []byte) (stacks []Stack, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			stacks, err = nil, fmt.Errorf("not a recording that can be read: %v", problem)
		}
	}()
	// Equal stacks are one: a recording says a stack once, and names it in each sample.
	type place struct {
		trace  *types.StackTrace
		thread int
	}
	known, frames := map[place]int{}, 0
	events := parser.NewParser(recording, parser.Options{SymbolProcessor: parser.ProcessSymbols})
	for range maxSamples {
		kind, err := events.ParseEvent()
		if errors.Is(err, io.EOF) {
			return withoutRecorder(stacks), nil
		}
		if err != nil {
			return nil, err
		}
		if kind != events.TypeMap.T_EXECUTION_SAMPLE {
			continue
		}
		// A name holds in its chunk alone; the library reads a new table with each, so a stack of another chunk is another pointer.
		trace := events.GetStacktrace(events.ExecutionSample.StackTrace)
		if trace == nil || len(trace.Frames) == 0 {
			continue
		}
		at := place{trace, threadOf(events)}
		if index, same := known[at]; same {
			stacks[index].Value++
			continue
		}
		known[at] = len(stacks)
		stacks = append(stacks, Stack{flame.Stack{Frames: framesOf(events, trace), Value: 1}, at.thread})
		if frames += len(stacks[len(stacks)-1].Frames); frames > flame.MaxFrames {
			return nil, flame.ErrTooLarge
		}
	}
	return withoutRecorder(stacks), nil
}

// threadOf is the id of the thread of the present sample.
func threadOf(events *parser.Parser) int {
	index, known := events.Threads.IDMap[events.ExecutionSample.SampledThread]
	if !known || int(index) >= len(events.Threads.Thread) {
		return 0
	}
	return int(events.Threads.Thread[index].OsThreadId & math.MaxInt32)
}

// withoutRecorder leaves out what is there because of the recording alone.
func withoutRecorder(stacks []Stack) []Stack {
	return slices.DeleteFunc(stacks, func(stack Stack) bool {
		return slices.ContainsFunc(stack.Frames, func(frame string) bool { return strings.HasPrefix(frame, "jdk.jfr.") })
	})
}

// framesOf gives a stack's frames, root first: no more than are drawn, and one that says that there are more.
func framesOf(events *parser.Parser, trace *types.StackTrace) []string {
	frames := make([]string, 0, min(len(trace.Frames), flame.MaxDepth+1))
	for at := len(trace.Frames) - 1; at >= 0 && len(frames) <= flame.MaxDepth; at-- {
		frames = append(frames, nameOf(events, trace.Frames[at].Method))
	}
	return frames
}

// maxName is more of a class's or a method's name than is told.
const maxName = 400

func short(name string) string { return name[:min(len(name), maxName)] }

var address = regexp.MustCompile(`[+/]0x[0-9a-f]+(\.[0-9]+)?`)

// nameOf is a method as "com.example.Shop.price".
func nameOf(events *parser.Parser, ref types.MethodRef) string {
	method := events.GetMethod(ref)
	if method == nil {
		return "?"
	}
	name := short(events.GetSymbolString(method.Name))
	if class := events.GetClass(method.Type); class != nil {
		name = strings.ReplaceAll(short(events.GetSymbolString(class.Name)), "/", ".") + "." + name
	}
	// A class that the JVM made itself is called after its address too, so the same code would have another name in each recording.
	return address.ReplaceAllString(name, "")
}
