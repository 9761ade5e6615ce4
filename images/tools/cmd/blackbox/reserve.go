package main

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/cgroup"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/target"
)

// reserve is memory that is there when the pod has none left: a container that is killed for memory mostly fills its pod, and ours is in the same. Without
// it the kernel lets us wait for 2 s when we open a file, and may kill us then.
type reserve struct {
	// heap is for our own heap, pages for what the kernel takes for us when we open and read files.
	heap, pages []byte
	relieved    atomic.Bool
}

const (
	heapReserved, pagesReserved = 1 << 20, 2 << 20
	// weight is what we take of the pod, as our cgroup counts it: 10.8 to 11.1 MiB, by version 1 and 2.
	weight = 11 << 20
	// needed is the least that the target's container must have left.
	needed = weight + 5<<20
)

// setAside takes the memory and touches it.
func setAside() *reserve {
	taken := &reserve{heap: make([]byte, heapReserved)}
	taken.pages, _ = unix.Mmap(-1, 0, pagesReserved, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
	for at := 0; at < len(taken.heap); at += 4096 {
		taken.heap[at] = 1
	}
	keepCode()
	return taken
}

// relieve gives the pages back to the pod.
func (r *reserve) relieve() {
	if r.relieved.CompareAndSwap(false, true) && r.pages != nil {
		_ = unix.Munmap(r.pages)
	}
}

// release gives the rest to our own heap: the runtime keeps what it once had.
func (r *reserve) release() {
	r.relieve()
	r.heap = nil
	runtime.GC()
}

// room says that the container has less memory left than is right to take from its pod; nil if it has enough, or nobody can tell.
func room(t *target.Target) *target.Lack {
	free, limited := cgroup.Of(t).ReadMemory().Free()
	if !limited || free >= needed {
		return nil
	}
	return &target.Lack{Lacks: fmt.Sprintf("memory: %s of the container's limit are left, and the watch needs %s, %s of it as room", size(free), size(needed), size(needed-weight))}
}

// tooTight reports that it did not watch, so that the target is not killed for our memory.
func (l *look) tooTight(lack *target.Lack) int {
	l.result.Sections = []report.Section{{Name: section, State: report.NotReadable, Text: "not watched", Lacks: lack.Lacks}}
	return l.end(fmt.Sprintf("Could not look: %s has too little room for a watch beside it. It lacks %s.", l.process(), lack.Lacks), 0)
}
