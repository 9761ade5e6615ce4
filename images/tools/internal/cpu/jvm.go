package cpu

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/jfr"
	"kdebug/tools/internal/jvm"
	"kdebug/tools/internal/room"
	"kdebug/tools/internal/run"
	"kdebug/tools/internal/target"
)

// cleanUp is how long it may take to leave no trace, also after ctx ended: a JVM without CPU answers late.
const cleanUp = 45 * time.Second

// recordJVM lets the JVM's Flight Recorder sample its own threads. The recorder's settings and its file lie in the target's /tmp for that long.
func recordJVM(ctx context.Context, t *target.Target, self target.Self, length time.Duration) (*Profile, error) {
	const what = "the Flight Recorder could not be used"
	if err := need(what, jvm.Lack(t, self)); err != nil {
		return nil, err
	}
	if err := need(what, noRoom(ctx, t)); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(t.Root())
	if err != nil {
		return nil, why(ctx, what, err)
	}
	defer root.Close()
	recorder := &recorder{t, root, "kdebug-" + strings.ToLower(rand.Text()[:10])}
	if err := recorder.start(ctx, length); err != nil {
		return nil, why(ctx, what, errors.Join(err, recorder.end()))
	}
	meter := Start(t)
	run.Pause(ctx, length)
	load := meter.Read()
	content, err := recorder.stop()
	if err = errors.Join(err, recorder.end()); err != nil || ctx.Err() != nil {
		return nil, why(ctx, what, err)
	}
	sampled, err := jfr.Parse(ctx, content)
	if err != nil {
		return nil, why(ctx, what, err)
	}
	stacks, samples := weigh(sampled, load)
	return &Profile{Stacks: stacks, Unit: flame.Nanoseconds, Samples: samples, Load: &load,
		How: "Flight Recorder looked at up to five running Java threads every 10 ms; the CPU time of each thread is the kernel's"}, nil
}

// noRoom says why the recorder would harm the JVM; nil if it would not. A heap that is full of what is in use has no place for the recorder either.
func noRoom(ctx context.Context, t *target.Target) *target.Lack {
	if lack := room.Lack(t, "Flight Recorder"); lack != nil {
		return lack
	}
	heap, known := jvm.HeapOf(ctx, t)
	if !known || heap.Percent() < full {
		return nil
	}
	if heap.IsOld() && heap.Percent() >= choked {
		return &target.Lack{Lacks: fmt.Sprintf("memory: Flight Recorder needs some of the heap, which has none left (%s)", heap.Words())}
	}
	// What fills it may be garbage.
	meter := Start(t)
	run.Pause(ctx, time.Second)
	if share, _ := meter.Read().Collecting(); share < collects {
		return nil
	}
	return &target.Lack{Lacks: fmt.Sprintf("memory: Flight Recorder needs some of the heap, and the collector works all the time to free any (%s)", heap.Words())}
}

const (
	// full is from how many percent on a heap may have no place for the recorder, and collects the share of the time that its collector then takes.
	full, collects = 90, 0.33
	// choked is from how many percent on an old generation has no place for it: a JVM with 100 % answered "Java heap space".
	choked = 97
)

// recorder is a recording in the target, by its name.
type recorder struct {
	target *target.Target
	root   *os.Root
	name   string
}

func (r *recorder) settings() string { return "tmp/" + r.name + ".jfc" }
func (r *recorder) file() string     { return "tmp/" + r.name + ".jfr" }

func (r *recorder) start(ctx context.Context, length time.Duration) error {
	if err := r.root.WriteFile(r.settings(), []byte(jfr.Settings), 0o644); err != nil {
		return fmt.Errorf("a /tmp that can be written to (an emptyDir there): %w", errors.Unwrap(err))
	}
	// It ends by itself if we are killed before we end it. Newer JVMs then write a file wherever they like, unless it is named.
	answer, err := jvm.Command(ctx, r.target, "JFR.start", "name="+r.name, "settings=/"+r.settings(), "filename=/"+r.file(), "disk=false", "maxsize=16m",
		fmt.Sprintf("duration=%ds", int((length+30*time.Second).Seconds())))
	if err == nil && !strings.Contains(answer, "Started recording") {
		return errors.New(jvm.FirstLine(answer))
	}
	return err
}

// stop ends the recording and reads it. It does not use the context of the work: that may be over.
func (r *recorder) stop() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), cleanUp)
	defer cancel()
	answer, err := jvm.Command(ctx, r.target, "JFR.stop", "name="+r.name, "filename=/"+r.file())
	if err != nil {
		return nil, err
	}
	file, err := r.target.Open("/" + r.file())
	if err != nil {
		return nil, fmt.Errorf("%s (%w)", jvm.FirstLine(answer), err)
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile))
}

// end makes sure that no recording runs and that its files are gone; an error says what may be left.
func (r *recorder) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanUp)
	defer cancel()
	_ = r.root.Remove(r.settings())
	left := fmt.Errorf("the target may keep /%s", r.file())
	answer, err := jvm.Command(ctx, r.target, "JFR.check", "name="+r.name)
	if err == nil && strings.Contains(answer, "name="+r.name) {
		_, err = jvm.Command(ctx, r.target, "JFR.stop", "name="+r.name)
	}
	if gone := r.root.Remove(r.file()); gone != nil && !errors.Is(gone, fs.ErrNotExist) || errors.Is(err, run.ErrTimeout) {
		return left
	}
	return nil
}
