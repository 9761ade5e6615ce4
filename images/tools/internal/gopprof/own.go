package gopprof

import (
	"debug/buildinfo"
	"slices"
	"strings"

	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
)

// moduleOf is the path of the program's main module, as "example.com/shop"; "" where it may not be read or has none.
func moduleOf(t *target.Target) string {
	info, err := buildinfo.ReadFile(t.FS().Path(t.PID, "exe"))
	if err != nil {
		return ""
	}
	return info.Main.Path
}

// mark sets Own, without the path of its package, Idle and Serves of goroutines. Without a main module whatever is not of the standard library counts as the program's own.
func mark(threads []stack.Thread, module string) {
	for index := range threads {
		thread := &threads[index]
		if at := slices.IndexFunc(thread.Frames, func(frame string) bool { return isOwn(frame, module) }); at >= 0 {
			thread.Own = thread.Frames[at]
			thread.Serves = slices.ContainsFunc(thread.Frames[at:], serves)
		} else if slices.ContainsFunc(thread.Frames, handles) {
			// A program that is made of a server's modules, as Caddy: what handles the request stands for it.
			thread.Serves = true
			if at := slices.IndexFunc(thread.Frames, func(frame string) bool { return isOwn(frame, "") }); at >= 0 {
				thread.Own = thread.Frames[at]
			}
		}
		thread.Idle = isIdle(thread)
		thread.Own = withoutPath(thread.Own)
	}
}

func isOwn(frame, module string) bool {
	if strings.HasPrefix(frame, "main.") {
		return true
	}
	if module != "" {
		rest, found := strings.CutPrefix(frame, module)
		return found && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "."))
	}
	// A package outside the standard library begins with a domain. A dot in the rest belongs to the function.
	first, _, _ := strings.Cut(frame, "/")
	return strings.Contains(frame, "/") && strings.Contains(first, ".") && !strings.HasPrefix(frame, "vendor/") && !strings.HasPrefix(frame, "golang.org/x/")
}

// withoutPath leaves of a function's package its last part, as Go's own code names it.
func withoutPath(frame string) string {
	name, _, _ := strings.Cut(frame, "(")
	return frame[strings.LastIndexByte(name, '/')+1:]
}

// serves is whether a frame is a server's that calls the program for a request.
func serves(frame string) bool {
	return strings.HasPrefix(frame, "net/http.(*conn).serve ") || strings.HasPrefix(frame, "net/http.(*http2serverConn).runHandler ") || strings.HasPrefix(frame, "google.golang.org/grpc.(*Server).")
}

// handles is whether a frame is that of a handler which has a request in its hands.
func handles(frame string) bool {
	return strings.Contains(frame, ".ServeHTTP (") || strings.HasPrefix(frame, "google.golang.org/grpc.(*Server).handleStream ")
}

// waits are the states of a goroutine that may be idle.
var waits = map[string]bool{"IO wait": true, "select": true, "select (no cases)": true, "chan receive": true, "sleep": true, "sync.Cond.Wait": true, "finalizer wait": true,
	"GC worker (idle)": true, "GC scavenge wait": true, "GC sweep wait": true, "force gc (idle)": true, "cleanup wait": true}

// isIdle: an acceptor, whoever called it; a wait for a signal; and a goroutine that waits in library code alone, as for the next request of a
// connection. One that waits for the answer of another server has the program's own code around it.
func isIdle(thread *stack.Thread) bool {
	if len(thread.Frames) > 0 && strings.HasPrefix(thread.Frames[0], "os/signal.") {
		return true
	}
	if !waits[thread.State] || slices.ContainsFunc(thread.Frames, handles) {
		return false
	}
	for _, frame := range thread.Frames {
		if strings.Contains(frame, ".Accept (") {
			return true
		}
		if frame == thread.Own {
			return false
		}
	}
	return true
}
