// Package jfr reads the CPU samples of a recording of Java Flight Recorder.
package jfr

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Parse gives one stack a sample. The recording comes from the target and may be anything: whatever it holds, Parse ends with stacks, with an
// error, or when ctx does. The caller bounds its size.
func Parse(ctx context.Context, recording []byte) ([]flame.Stack, error) {
	type result struct {
		stacks []flame.Stack
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

func parse(recording []byte) (stacks []flame.Stack, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			stacks, err = nil, fmt.Errorf("not a recording that can be read: %v", problem)
		}
	}()
	events := parser.NewParser(recording, parser.Options{SymbolProcessor: parser.ProcessSymbols})
	for range maxSamples {
		kind, err := events.ParseEvent()
		if errors.Is(err, io.EOF) {
			return stacks, nil
		}
		if err != nil {
			return nil, err
		}
		if kind != events.TypeMap.T_EXECUTION_SAMPLE {
			continue
		}
		if frames := framesOf(events); len(frames) > 0 {
			stacks = append(stacks, flame.Stack{Frames: frames, Value: 1})
		}
	}
	return stacks, nil
}

// framesOf gives the frames of the sample that was read last, root first.
func framesOf(events *parser.Parser) []string {
	trace := events.GetStacktrace(events.ExecutionSample.StackTrace)
	if trace == nil {
		return nil
	}
	frames := make([]string, 0, len(trace.Frames))
	for at := len(trace.Frames) - 1; at >= 0; at-- {
		frames = append(frames, nameOf(events, trace.Frames[at].Method))
	}
	return frames
}

// nameOf is a method as "com.example.Shop.price".
func nameOf(events *parser.Parser, ref types.MethodRef) string {
	method := events.GetMethod(ref)
	if method == nil {
		return "?"
	}
	name := events.GetSymbolString(method.Name)
	if class := events.GetClass(method.Type); class != nil {
		name = strings.ReplaceAll(events.GetSymbolString(class.Name), "/", ".") + "." + name
	}
	// The library's strings lie in the recording itself.
	return strings.Clone(name)
}
