package python

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"kdebug/tools/internal/stack"
	"kdebug/tools/internal/target"
	"kdebug/tools/internal/thread"
)

// A target whose root is a folder of this test, with one file of the program's own.
func withSource(t *testing.T, lines string) *target.Target {
	t.Helper()
	found, err := target.Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), strconv.Itoa(found.PID), "root", "app")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "web.py"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return found.In(target.FS(filepath.Dir(filepath.Dir(filepath.Dir(root)))))
}

const (
	lib  = "/usr/lib/python3.11/"
	site = "/usr/lib/python3/dist-packages/"
)

func at(name, path string, line int) frame {
	return frame{Name: name, File: filepath.Base(path), Path: path, Line: line}
}

func TestFramesOfPythonAreOwnOnesOrALibrarys(t *testing.T) {
	source := withSource(t, "import queue\nwith lock:\nitem = work.get()\n")
	own := at("reserve", "/app/web.py", 2)
	for name, test := range map[string]struct {
		frames       []frame
		kernel       thread.Class
		own, does    string
		idle, serves bool
	}{
		"a lock of its own": {
			[]frame{own, at("Thread.run", lib+"threading.py", 975)}, thread.Lock, "reserve (web.py:2)", "waiting for a lock", false, false,
		},
		"an empty queue of C": {
			[]frame{at("worker", "/app/web.py", 3)}, thread.Lock, "worker (web.py:3)", "waiting (idle, or for a lock)", false, false,
		},
		"a semaphore": {
			[]frame{at("Condition.wait", lib+"threading.py", 320), at("Semaphore.acquire", lib+"threading.py", 466), own}, thread.Lock, "reserve (web.py:2)", "waiting (idle, or for a lock)", false, false,
		},
		"an empty queue": {
			[]frame{at("Condition.wait", lib+"threading.py", 320), at("Queue.get", lib+"queue.py", 171), own}, thread.Lock, "reserve (web.py:2)", "idle", true, false,
		},
		"a pool of its own is used up inside a request": {
			[]frame{at("Condition.wait", lib+"threading.py", 320), at("Queue.get", lib+"queue.py", 171), own, at("handle", site+"flask/app.py", 9)}, thread.Lock,
			"reserve (web.py:2)", "waiting (idle, or for a lock)", false, true,
		},
		"the pool of a driver is exhausted": {
			[]frame{at("Condition.wait", lib+"threading.py", 320), at("Queue.get", site+"sqlalchemy/util/queue.py", 171), own, at("handle", site+"flask/app.py", 9)}, thread.Lock,
			"reserve (web.py:2)", "waiting (idle, or for a lock)", false, true,
		},
		"an idle worker of the standard library": {
			[]frame{at("_worker", lib+"concurrent/futures/thread.py", 81), at("Thread.run", lib+"threading.py", 975)}, thread.Lock, "", "idle", true, false,
		},
		"a request that reads": {
			[]frame{at("SocketIO.readinto", lib+"socket.py", 706), at("get", site+"requests/api.py", 3), own, at("handle", lib+"socketserver.py", 3)}, thread.Socket,
			"reserve (web.py:2)", "reading", false, true,
		},
		"a worker of Redis": {
			[]frame{at("SocketIO.readinto", lib+"socket.py", 706), at("Redis.blpop", site+"redis/client.py", 3), own}, thread.Socket, "reserve (web.py:2)", "idle", true, false,
		},
		"the start of a package's command": {
			[]frame{at("Arbiter.run", site+"gunicorn/arbiter.py", 3), at("<module>", "/usr/bin/gunicorn", 8)}, thread.Queue, "", "events", false, false,
		},
	} {
		words := map[thread.Class]string{thread.Lock: "waiting (idle, or for a lock)", thread.Socket: "reading", thread.Queue: "events"}[test.kernel]
		found := threadOf(source, threadFrames(test.frames), thread.Seen{Class: test.kernel, Words: words})
		if found.Own != test.own || found.Idle != test.idle || found.Serves != test.serves || stack.Does(found) != test.does {
			t.Errorf("%s: own %q, idle %v, serves %v, %s", name, found.Own, found.Idle, found.Serves, stack.Does(found))
		}
	}
}

func threadFrames(frames []frame) pythonThread { return pythonThread{ID: 1, Name: "x", Frames: frames} }

// A target may make its source a device, a pipe, or a link out of its root.
func TestOnlyFilesOfTheTargetAreRead(t *testing.T) {
	source := withSource(t, "with lock:\n")
	for _, path := range []string{"/app/../../../../../etc/passwd", "app/web.py", "/app", "/nothing.py", "/app/web.py"} {
		line, known := lineOf(source, at("x", path, 1))
		if known != (path == "/app/web.py") {
			t.Errorf("%s: %q", path, line)
		}
	}
}

func TestWhatAnEventLoopCalledIsInIt(t *testing.T) {
	own := at("price", "/app/shop.py", 3)
	run := at("BaseEventLoop._run_once", "/usr/lib/python3.11/asyncio/base_events.py", 1922)
	main := at("<module>", "/app/main.py", 9)
	for name, test := range map[string]struct {
		frames []frame
		want   bool
	}{
		"a function of the loop":   {[]frame{own, run, main}, true},
		"of the loop written in C": {[]frame{own, at("run", "/usr/lib/python3.11/asyncio/runners.py", 118), main}, true},
		"the loop at its events":   {[]frame{at("select", "/usr/lib/python3.11/selectors.py", 468), run, main}, false},
		"a thread without a loop":  {[]frame{own, at("Thread.run", "/usr/lib/python3.11/threading.py", 975)}, false},
	} {
		if got := threadOf(&target.Target{}, threadFrames(test.frames), thread.Seen{Class: thread.Socket}).InLoop; got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAFrameIsShortenedAndKnownAsTheProgramsOwn(t *testing.T) {
	for text, want := range map[string]string{
		"price (/app/shop.py:3)": "price (shop.py:3) true",
		"compose (/usr/local/lib/python3.13/site-packages/yaml/composer.py:99)": "compose (yaml/composer.py:99) false",
		"findall (/usr/lib/python3.10/re.py:232)":                               "findall (re.py:232) false",
		"<module> (/app/main.py)":                                               "<module> (main.py) true",
		"no file":                                                               "no file false",
	} {
		if short, own := Short(text); fmt.Sprint(short, " ", own) != want {
			t.Errorf("%s: %s %v", text, short, own)
		}
	}
}
