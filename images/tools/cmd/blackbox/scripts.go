package main

import (
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/jvm"
	"kdebug/tools/internal/pyframes"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/unwind"
)

// scripts are the functions of the language that a process interprets, which its native stacks do not show.
type scripts struct {
	language string
	// frames are those of each thread, the innermost first, and own the innermost of the program's own code, where there is one.
	frames map[int][]unwind.Frame
	own    map[int]unwind.Frame
}

// tellingOf is the function that a thread is told by: the innermost of the program's own, else the innermost; false where it is in none.
func (s scripts) tellingOf(tid int) (unwind.Frame, bool) {
	if own, found := s.own[tid]; found {
		return own, true
	}
	if frames := s.frames[tid]; len(frames) > 0 {
		return frames[0], true
	}
	return unwind.Frame{}, false
}

// first is the first of these threads that is in the program's own code; without one the first in any function of the language, else the first.
func (s scripts) first(order []int) int {
	best := order[0]
	for _, tid := range order {
		if _, is := s.own[tid]; is {
			return tid
		}
		if len(s.frames[tid]) > 0 && len(s.frames[best]) == 0 {
			best = tid
		}
	}
	return best
}

// interpreter is one of Python that was found in the target; nil for another program.
type interpreter struct {
	pid    int
	python *pyframes.Interpreter
}

// findPython looks for the interpreter beforehand: at the end there is no time for it.
func findPython(t *target.Target) *interpreter {
	if t.Runtime != target.Python {
		return nil
	}
	walker, err := unwind.Open(t, t.PID)
	if err != nil {
		return nil
	}
	defer walker.Close()
	if found := pyframes.Find(walker); found != nil {
		return &interpreter{t.PID, found}
	}
	return nil
}

// scripts reads the functions of Python that the threads are in, from the memory of the process, which is stopped.
func (p *interpreter) scripts(pid int, walker *unwind.Walker, until time.Time) scripts {
	if p == nil || p.pid != pid {
		return scripts{}
	}
	read := scripts{language: target.Python.Language(), frames: p.python.Stacks(walker, until), own: map[int]unwind.Frame{}}
	for tid, frames := range read.frames {
		for _, each := range frames {
			if pyframes.IsOwn(each.File) {
				read.own[tid] = each
				break
			}
		}
	}
	return read
}

// javaPatience is how long a JVM may take to answer: it stops all its threads for that, which it can do only where each reaches a safe point.
const javaPatience = 2 * time.Second

// javaScripts asks a living JVM for its threads. At the end of a process there is nobody who could answer.
func (l *look) javaScripts() scripts {
	if jvm.Lack(l.target, l.self) != nil {
		return scripts{}
	}
	until := time.Now().Add(javaPatience)
	text, err := jvm.Threads(l.target, func() bool { return (l.isParent || !l.told.Load()) && time.Now().Before(until) })
	if err != nil {
		return scripts{}
	}
	read := scripts{language: target.JVM.Language(), frames: map[int][]unwind.Frame{}, own: map[int]unwind.Frame{}}
	threads, _ := jvm.Parse(text)
	for _, each := range threads[:min(len(threads), maxThreads)] {
		for _, frame := range each.Frames[:min(len(each.Frames), maxFrames)] {
			read.frames[each.ID] = append(read.frames[each.ID], javaFrame(frame))
		}
		if own := jvm.Own(each.Frames); own != "" {
			read.own[each.ID] = javaFrame(own)
		}
	}
	return read
}

// javaFrame reads "shop.Ledger.post(Ledger.java:12)", and "java.lang.Thread.sleep(java.base@17.0.15/Native Method)".
func javaFrame(text string) unwind.Frame {
	function, place, _ := strings.Cut(text, "(")
	place = strings.TrimSuffix(place, ")")
	if _, inside, found := strings.Cut(place, "/"); found {
		place = inside
	}
	file, line, _ := strings.Cut(place, ":")
	number, err := strconv.Atoi(line)
	if err != nil {
		// A function of C, as "Native Method".
		return unwind.Frame{Function: function, Module: "java"}
	}
	return unwind.Frame{Function: function, File: file, Line: number}
}
