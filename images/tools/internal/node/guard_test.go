package node

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/sock"
	"kdebug/tools/internal/target"
)

func TestMain(m *testing.M) {
	Announcements = io.Discard
	os.Exit(m.Run())
}

// opens does what a look does before its profile, and is then "killed".
func opens(t *testing.T, found *target.Target, look string, until time.Time) *inspector {
	t.Helper()
	opened, err := open(t.Context(), found)
	if err != nil {
		t.Skip(err)
	}
	session, err := opened.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.connection.CloseNow()
	if err := session.enter(t.Context(), look, until); err != nil {
		t.Fatal(err)
	}
	return opened
}

func listens(found *target.Target) bool { return len(sock.Listeners(found.FS(), found.PID)) > 0 }

// stillListens is whether a program that is busy, or collects its heap, does not close its inspector soon.
func stillListens(found *target.Target) bool {
	for deadline := time.Now().Add(10 * time.Second); listens(found) && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	return listens(found)
}

func TestTheGuardOfALookThatWasKilledClosesTheInspector(t *testing.T) {
	found := start(t, loop)
	opens(t, found, "killed", time.Now().Add(300*time.Millisecond))
	if stillListens(found) {
		t.Error("it still listens")
	}
}

// The first look ended in order; its guard must not end the connection of the next one.
func TestTheGuardOfAnEarlierLookLeavesALaterOneAlone(t *testing.T) {
	found := start(t, loop)
	first := opens(t, found, "first", time.Now().Add(1200*time.Millisecond))
	if err := closeAgain(found, first, "first"); err != nil || listens(found) {
		t.Fatalf("%v", err)
	}
	profile, err := ProfileOf(t.Context(), found, 2*time.Second)
	if err != nil || profile.Raw == nil {
		t.Errorf("%v", err)
	}
	if listens(found) {
		t.Error("it still listens")
	}
}

// The first look was killed: the next one finds its inspector open, and closes it, no earlier than it is done.
func TestALookTakesOverTheInspectorOfOneThatWasKilled(t *testing.T) {
	found := start(t, loop)
	opens(t, found, "killed", time.Now().Add(1200*time.Millisecond))
	profile, err := ProfileOf(t.Context(), found, 2*time.Second)
	if err != nil || profile.Raw == nil || profile.WasOpen != "" {
		t.Errorf("%v %+v", err, profile)
	}
	if listens(found) {
		t.Error("it still listens")
	}
}

func TestALookLeavesTheInspectorToAnotherThatStillWorks(t *testing.T) {
	found := start(t, loop)
	opened := opens(t, found, "other", time.Now().Add(time.Minute))
	if profile, err := ProfileOf(t.Context(), found, 200*time.Millisecond); err != nil || profile.Raw == nil {
		t.Errorf("%v", err)
	}
	if !listens(found) {
		t.Fatal("it closed the inspector of the other")
	}
	if err := closeAgain(found, opened, "other"); err != nil || listens(found) {
		t.Errorf("it still listens: %v", err)
	}
}

func TestWhenAnInspectorIsClosedIsSaidAtOnce(t *testing.T) {
	var log bytes.Buffer
	Announcements = &log
	defer func() { Announcements = io.Discard }()
	announce(7, time.Date(2026, 11, 25, 2, 59, 59, 1, time.UTC))
	if log.String() != "The inspector of process 7 is open until 03:00:00 UTC at the latest.\n" {
		t.Error(log.String())
	}
	log.Reset()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	found := start(t, loop, "--inspect=127.0.0.1:0")
	if _, err := ProfileOf(ctx, found, 100*time.Millisecond); err != nil || log.Len() > 0 {
		t.Errorf("one that was open before is announced: %v %q", err, log.String())
	}
}

// full leaves about 6 MiB of 48.
const full = "const keep = []; while (keep.length < 37 * 1024) keep.push(new Array(128).fill(keep)); setInterval(() => keep.length, 100)"

func TestAHeapWithoutRoomForTheProfilerIsSaidWithItsFigure(t *testing.T) {
	found := start(t, full, "--max-old-space-size=48")
	var profile *Profile
	var err error
	var noRoom *ErrNoRoom
	// It takes the program a moment to fill its heap, a busy machine several.
	for range 50 {
		if profile, err = ProfileOf(t.Context(), found, 100*time.Millisecond); errors.As(err, &noRoom) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if !errors.As(err, &noRoom) || !strings.HasPrefix(noRoom.Words, "memory: V8's profiler may take 8 MiB, and the heap has ") || !strings.HasSuffix(noRoom.Words, "of its 48 MiB left") {
		t.Fatalf("%v", err)
	}
	if profile.Raw != nil || profile.Heap.Max != 48<<20 || profile.Heap.Used < 20<<20 || profile.Collecting > 0.9 {
		t.Errorf("%+v", profile)
	}
	if stillListens(found) {
		t.Error("it still listens")
	}
	dump := Dump(t.Context(), found, target.Whoami(), 300*time.Millisecond)
	if dump.Lack == nil || !strings.HasPrefix(dump.Heap, "old generation ") || dump.Silent != "" {
		t.Errorf("%+v", dump)
	}
}

func TestAHealthyHeapIsProfiled(t *testing.T) {
	found := start(t, loop)
	profile, err := ProfileOf(t.Context(), found, 300*time.Millisecond)
	if err != nil || profile.Heap.Max < 100<<20 || profile.Heap.Used <= 0 || profile.Raw == nil {
		t.Errorf("%v %+v", err, profile)
	}
}

func TestAPackageIsNotTheProgramsOwn(t *testing.T) {
	for url, want := range map[string]string{
		"file:///app/server.js": "server.js", "/app/node_modules/express/lib/router.js": "node_modules/express/lib/router.js", "node:internal/timers": "node:internal/timers",
		"file:///app/node_modules/a/node_modules/@b/c/d.js": "node_modules/@b/c/d.js",
	} {
		if got := fileOf(url); got != want {
			t.Errorf("%s: %s", url, got)
		}
	}
	if own := Own([]string{"(garbage collector)", "listOnTimeout (node:internal/timers:500)", "next (node_modules/express/lib/router.js:3)", "price (shop.js:4)", "main (server.js:9)"}); own != "price (shop.js:4)" {
		t.Error(own)
	}
	if own := Own([]string{"(program)", "listOnTimeout (node:internal/timers:500)"}); own != "" {
		t.Error(own)
	}
}
