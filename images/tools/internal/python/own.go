package python

import (
	"bufio"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"kdebug/tools/internal/target"
)

var standard = regexp.MustCompile(`/lib(64)?/(python|pypy)[0-9.]*/`)

// kind is whose code a frame is.
type kind int

const (
	ownCode kind = iota
	library
	standardLibrary
)

// kindOf tells it by the path of the file: installed packages and the standard library have places of their own.
func kindOf(at frame) kind {
	switch {
	case strings.Contains(at.Path, "/site-packages/"), strings.Contains(at.Path, "/dist-packages/"):
		return library
	case at.Path == "", strings.HasPrefix(at.Path, "<"), standard.MatchString(at.Path), strings.HasPrefix(at.Path, "shim"):
		return standardLibrary
	case !strings.HasSuffix(at.Path, ".py") && strings.HasSuffix(path.Dir(at.Path), "bin"):
		// The few lines by which a package's command starts it, as /usr/bin/gunicorn.
		return library
	}
	return ownCode
}

// inPackage is what stands before the part of a path by which people know a library's file.
var inPackage = regexp.MustCompile(`^.*/(?:(?:site|dist)-packages|lib(?:64)?/(?:python|pypy)[0-9.]*)/`)

// Short makes of a frame with its whole path, as "price (/app/shop.py:3)", one as people read it, "price (shop.py:3)", and says whether it is of the
// program's own code.
func Short(text string) (short string, own bool) {
	name, rest, found := strings.Cut(text, " (")
	file, line, _ := strings.Cut(strings.TrimSuffix(rest, ")"), ":")
	if !found || file == "" {
		return text, false
	}
	own = kindOf(frame{Path: file}) == ownCode
	if inside := inPackage.ReplaceAllString(file, ""); inside != file {
		file = inside
	} else {
		file = path.Base(file)
	}
	if line != "" {
		file += ":" + line
	}
	return name + " (" + file + ")", own
}

// function is a frame's function without its class.
func (f frame) function() string { return f.Name[strings.LastIndexByte(f.Name, '.')+1:] }

// ownAt is the index of the innermost frame of the program's own code; -1 if there is none.
func ownAt(frames []frame) int {
	return slices.IndexFunc(frames, func(at frame) bool { return kindOf(at) == ownCode })
}

// servers are modules of the standard library that call a program for a request.
var servers = regexp.MustCompile(`/(http/server|socketserver|wsgiref/\w+|xmlrpc/server)\.py$`)

// serves is whether a server called the program's own code.
func serves(frames []frame, own int) bool {
	return own >= 0 && slices.ContainsFunc(frames[own+1:], func(at frame) bool { return kindOf(at) == library || servers.MatchString(at.Path) })
}

// loops are the modules by which Python runs an event loop.
var loops = regexp.MustCompile(`/asyncio/(base_events|events|runners)\.py$|/uvloop/`)

// inLoop is whether an event loop called the program's own code.
func inLoop(frames []frame, own int) bool {
	return own >= 0 && slices.ContainsFunc(frames[own+1:], func(at frame) bool { return loops.MatchString(at.Path) })
}

// news are functions of libraries that wait for somebody to have work, which may take for ever.
var news = strings.Fields(`blpop brpop brpoplpush blmove bzpopmin bzpopmax xread xreadgroup get_message listen start_consuming drain_events
	consume poll_for_messages receive_messages receive_message wait_for_notify notifies`)

// joins are functions in which a thread waits for others to end.
var joins = []string{"join", "_wait_for_tstate_lock", "_shutdown", "_wait_for_all_tstate_locks"}

// isIdle is whether these frames, the innermost first, are those of a worker without work.
func isIdle(frames []frame, own int) bool {
	inner := frames
	if own >= 0 {
		inner = frames[:own]
	}
	for index, at := range inner {
		kind, file := kindOf(at), path.Base(at.Path)
		switch {
		case kind == library && slices.Contains(news, at.function()):
			return true
		case kind != standardLibrary:
		// Inside a request it is a pool that is used up.
		case file == "queue.py" && at.function() == "get" && !hasLibrary(inner) && !serves(frames, own):
			return true
		case index == 0 && at.function() == "_worker" && strings.HasSuffix(at.Path, "concurrent/futures/thread.py"):
			return true
		case file == "threading.py" && slices.Contains(joins, at.function()):
			return true
		}
	}
	return false
}

func hasLibrary(frames []frame) bool {
	return slices.ContainsFunc(frames, func(at frame) bool { return kindOf(at) == library })
}

// acquiring are functions of Python's own that take a lock.
var acquiring = []string{"acquire", "__enter__", "_acquire_restore"}

// lockLine is a line of Python that takes a lock.
var lockLine = regexp.MustCompile(`^\s*(async\s+)?with\s|\.acquire\(`)

// atLock is whether a thread that waits for another thread does so to take a lock, which has no frame of its own: by the function, or by the
// line of its source, which stays here.
func atLock(t *target.Target, frames []frame) bool {
	if len(frames) == 0 || isSemaphore(frames) {
		return false
	}
	for _, at := range frames[:min(2, len(frames))] {
		if slices.Contains(acquiring, at.function()) {
			return true
		}
		if kindOf(at) != standardLibrary {
			break
		}
	}
	if kindOf(frames[0]) == standardLibrary {
		return false
	}
	line, known := lineOf(t, frames[0])
	return known && lockLine.MatchString(line)
}

// isSemaphore is whether a thread waits at a semaphore, as a worker without work does: locks have no frame of threading.py, their functions are
// written in C.
func isSemaphore(frames []frame) bool {
	return len(frames) > 1 && frames[0].function() == "wait" && slices.Contains(acquiring, frames[1].function()) && path.Base(frames[1].Path) == "threading.py"
}

// lineOf reads a line of the target's source.
func lineOf(t *target.Target, at frame) (string, bool) {
	const most = 4 << 20
	if !strings.HasPrefix(at.Path, "/") || at.Line < 1 {
		return "", false
	}
	file, err := t.Open(at.Path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, most))
	for number := 1; lines.Scan(); number++ {
		if number == at.Line {
			return lines.Text(), true
		}
	}
	return "", false
}
