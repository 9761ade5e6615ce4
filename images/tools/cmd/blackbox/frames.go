package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/unwind"
)

const maxName = 160

// nameOf is a frame in words: "crash+0x12 (app)", "main.crash (main.go:12)".
func nameOf(frame unwind.Frame) string {
	module := report.Name(path.Base(strings.TrimSuffix(frame.Module, " (deleted)")), maxName)
	if frame.Module == "" {
		module = "no file"
	}
	switch {
	case frame.File != "":
		return report.Line(fmt.Sprintf("%s (%s:%d)", report.Name(frame.Function, maxName), report.Name(path.Base(frame.File), maxName), frame.Line), maxName)
	case frame.Function != "":
		return report.Line(fmt.Sprintf("%s+%#x (%s)", report.Name(frame.Function, maxName), frame.Plus, module), maxName)
	}
	return report.Line(fmt.Sprintf("%#x (%s)", frame.Offset, module), maxName)
}

// folded is a frame as stacks.folded has it: without what changes from run to run.
func folded(frame unwind.Frame) string {
	name := frame.Function
	if name == "" {
		name = "[" + path.Base("/"+frame.Module) + "]"
	}
	return strings.ReplaceAll(report.Line(name, maxName), ";", ":")
}

// starts are the functions of C libraries that call main.
var starts = []string{"__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main"}

func isStart(frame unwind.Frame) bool { return slices.Contains(starts, frame.Function) }

func beginsWith(name string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(each string) bool { return strings.HasPrefix(name, each) })
}

// calls is whether a function is among the frames.
func calls(frames []unwind.Frame, names ...string) bool {
	for _, frame := range frames {
		for _, name := range names {
			if frame.Function == name {
				return true
			}
		}
	}
	return false
}

// behind are the frames that called a function; none where it is not among them.
func behind(frames []unwind.Frame, name string) []unwind.Frame {
	for index, frame := range frames {
		if frame.Function == name {
			return frames[index+1:]
		}
	}
	return nil
}
