package node

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Announcements is where it is written at once, before any result, until when an inspector that a look opened may be open: should the look be
// killed, its log says so.
var Announcements io.Writer = os.Stdout

func announce(pid int, until time.Time) {
	// Whole seconds, and never too early.
	fmt.Fprintf(Announcements, "The inspector of process %d is open until %s UTC at the latest.\n", pid, until.Add(time.Second-1).UTC().Format("15:04:05"))
}

// A guard in the process closes the inspector when the last look that uses it should be over, should that look be killed before it closes it. All
// looks share one: who comes later moves its time, and who goes leaves the inspector open for the others.
const (
	guarded = `globalThis[Symbol.for("kdebug.inspector")] !== undefined`
	enter   = `((name, look, until) => {
	const guard = globalThis[name] ??= { ends: new Map() };
	guard.ends.set(look, until);
	clearTimeout(guard.timer);
	const close = () => { delete globalThis[name]; process._debugEnd(); };
	guard.timer = setTimeout(close, Math.max(...guard.ends.values()) - Date.now()).unref();
})(Symbol.for("kdebug.inspector"), %s, %d)`
	leave = `((name, look) => {
	const guard = globalThis[name];
	guard?.ends.delete(look);
	if (guard && [...guard.ends.values()].some((end) => end > Date.now())) return "others";
	clearTimeout(guard?.timer);
	delete globalThis[name];
	process._debugEnd();
	return "closed";
})(Symbol.for("kdebug.inspector"), %s)`
)

// lookID names one look among those that share a guard.
func lookID() string { return strings.ToLower(rand.Text()) }

// isGuarded is whether the inspector was opened by another look, which will close it.
func (s *session) isGuarded(ctx context.Context) bool {
	found := false
	return s.evaluate(ctx, guarded, &found) == nil && found
}

func (s *session) enter(ctx context.Context, look string, until time.Time) error {
	return s.evaluate(ctx, fmt.Sprintf(enter, quoted(look), until.UnixMilli()), nil)
}

// leave closes the inspector, unless another look uses it; then it is true.
func (s *session) leave(ctx context.Context, look string) bool {
	answer := ""
	_ = s.evaluate(ctx, fmt.Sprintf(leave, quoted(look)), &answer)
	return answer == "others"
}

func quoted(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}
