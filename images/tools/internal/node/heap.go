package node

import (
	"context"
	"fmt"
	"time"

	"kdebug/tools/internal/run"
)

// heapNeeded is what V8's profiler may take of V8's own heap, in bytes: it took 0.4 MiB in a small program, and takes more the more code there is.
// The rest of what it takes lies outside. With less than heapAsked, nothing more is asked at all: what each question leaves for the collector may
// end the process.
const heapNeeded, heapAsked = 8 << 20, 4 << 20

// Heap is what V8 keeps in its old generation of what it may at most, in bytes.
type Heap struct{ Used, Max int64 }

// Words are "old generation 97 % of 64 MiB".
func (h Heap) Words() string {
	if h.Max <= 0 {
		return ""
	}
	return fmt.Sprintf("old generation %.0f %% of %.0f MiB", 100*float64(h.Used)/float64(h.Max), float64(h.Max)/(1<<20))
}

// ErrNoRoom is for a process that has less memory left than V8's profiler may take: it might die of the look.
type ErrNoRoom struct{ Words string }

func (e *ErrNoRoom) Error() string { return e.Words }

// require is there for an inspector alone (includeCommandLineAPI). The limit of V8 includes its young generation, three half-spaces of 16 MiB by
// default.
const heapNow = `(() => {
	const v8 = process.getBuiltinModule?.("v8") ?? require("v8");
	const words = [process.env.NODE_OPTIONS ?? "", ...process.execArgv].join(" ");
	const option = [...words.matchAll(/--max[-_]old[-_]space[-_]size=(\d{1,9})/g)].at(-1);
	const limit = option ? Number(option[1]) * 1048576 : v8.getHeapStatistics().heap_size_limit - 48 * 1048576;
	const old = v8.getHeapSpaceStatistics().filter((space) => !space.space_name.startsWith("new"));
	return { Used: old.reduce((sum, space) => sum + space.space_used_size, 0), Max: limit };
})()`

func (s *session) heap(ctx context.Context) (Heap, bool) {
	var heap Heap
	err := s.evaluate(ctx, heapNow, &heap)
	return heap, err == nil && heap.Max > 0
}

const (
	beginCollecting = `((name) => {
	const { PerformanceObserver, performance } = process.getBuiltinModule?.("perf_hooks") ?? require("perf_hooks");
	const seen = { spent: 0, began: performance.now(), now: () => performance.now() };
	seen.add = (entries) => { for (const entry of entries) seen.spent += entry.duration; };
	seen.observer = new PerformanceObserver((list) => seen.add(list.getEntries()));
	seen.observer.observe({ entryTypes: ["gc"] });
	globalThis[name] = seen;
})(Symbol.for("kdebug.collector"))`
	endCollecting = `((name) => {
	const seen = globalThis[name];
	delete globalThis[name];
	seen.add(seen.observer.takeRecords());
	seen.observer.disconnect();
	return seen.spent / (seen.now() - seen.began);
})(Symbol.for("kdebug.collector"))`
)

// withoutProfiler measures what needs no memory: how full the heap stays, and which share of the time its collector takes.
func (s *session) withoutProfiler(ctx context.Context, length time.Duration) (heap Heap, collecting float64, err error) {
	if err := s.evaluate(ctx, beginCollecting, nil); err != nil {
		return heap, 0, err
	}
	ended := time.Now().Add(length)
	for time.Now().Before(ended) {
		if err := run.Pause(ctx, min(length, 500*time.Millisecond)); err != nil {
			return heap, 0, err
		}
		// What is in use is what stays after a collection.
		if now, known := s.heap(ctx); known && (heap.Max == 0 || now.Used < heap.Used) {
			heap = now
		}
	}
	err = s.evaluate(ctx, endCollecting, &collecting)
	return heap, min(collecting, 1), err
}

// lookAtHeap fills what the profile says of the heap, and fails with *ErrNoRoom where the profiler has no room in it.
func (s *session) lookAtHeap(ctx context.Context, profile *Profile, length time.Duration) error {
	heap, known := s.heap(ctx)
	if profile.Heap = heap; !known || heap.free() >= heapNeeded {
		return nil
	}
	if heap.free() >= heapAsked {
		const most = 3 * time.Second
		now, collecting, err := s.withoutProfiler(ctx, min(length, most))
		if err != nil || now.Max == 0 {
			return err
		}
		heap, profile.Heap, profile.Collecting = now, now, collecting
	}
	if heap.free() >= heapNeeded {
		return nil
	}
	return &ErrNoRoom{fmt.Sprintf("memory: V8's profiler may take %d MiB, and the heap has %d of its %d MiB left", heapNeeded>>20, heap.free()>>20, heap.Max>>20)}
}

// free is what is left, in bytes; never below 0.
func (h Heap) free() int64 { return max(0, h.Max-h.Used) }
