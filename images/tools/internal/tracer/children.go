package tracer

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Ended is a child that has ended.
type Ended struct {
	PID int
	// Signal is what ended it; 0 for an exit with Code.
	Signal unix.Signal
	Code   int
}

// Forever is a patience without an end.
const Forever = time.Duration(-1)

// NextEnd waits for the next child of this process that ends, and reaps it; one that was watched too. A thread that is still traced is let go when it
// stops. False where there is no child, or none ends within patience. Only the tracing thread may call it.
func NextEnd(patience time.Duration) (Ended, bool) {
	options := 0
	if patience != Forever {
		options = unix.WNOHANG
	}
	for until := time.Now().Add(patience); ; {
		news, came, err := await(0, options)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return Ended{}, false
		case !came:
			if time.Now().After(until) {
				return Ended{}, false
			}
			time.Sleep(time.Millisecond)
		case news.over:
			reap(news.tid)
			return Ended{news.tid, news.signal, news.code}, true
		case news.isUntraced:
			passOver(news.tid)
		default:
			detach(news.tid, signalOf(news))
		}
	}
}

// passOver takes the news of a child that a signal stopped and nobody traces.
func passOver(pid int) { _, _ = unix.Wait4(pid, nil, unix.WUNTRACED|unix.WNOHANG|unix.WALL, nil) }
