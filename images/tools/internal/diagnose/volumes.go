package diagnose

import (
	"sync"
	"syscall"
	"time"
)

// volumes are the answers of the target's file systems.
type volumes struct {
	disks []disk
	// silent are the paths of those that gave none within answerWait, though it was not a CPU that lacked.
	silent []string
}

// A volume whose server is gone does not answer, and whoever asked waits in the kernel and cannot be ended.
const (
	answerWait = 2 * time.Second
	maxSilent  = 2
)

// asker asks file systems one after the other, where nobody must wait for it.
type asker struct {
	// answers has one for each path, in their order; a file system that answers with an error gives a disk without blocks.
	answers chan disk
	// state is the letter that the kernel has for what it does now; 0 where that is not known.
	state func() byte
	// leave ends it, if it can be ended.
	leave func()
}

// askVolumes asks file systems that are mounted below root, and gives back at once; the function that it gives waits for the answers, and may be
// called often. Those of this node are asked by a thread, those of others by a process: a thread that waits in the kernel keeps its process from ending.
func askVolumes(root string, systems []mount) func() volumes {
	var ours, theirs []string
	memory := map[string]bool{}
	for _, each := range systems {
		memory[each.point] = each.kind == "tmpfs"
		if isByOthers(each.kind) {
			theirs = append(theirs, each.point)
		} else {
			ours = append(ours, each.point)
		}
	}
	answers := make(chan volumes, 2)
	go func() { answers <- askAll(root, ours, askByThread, answerWait) }()
	go func() { answers <- askAll(root, theirs, askByProcess, answerWait) }()
	return sync.OnceValue(func() volumes {
		one, other := <-answers, <-answers
		all := volumes{append(one.disks, other.disks...), append(one.silent, other.silent...)}
		for index := range all.disks {
			all.disks[index].memory = memory[all.disks[index].path]
		}
		return all
	})
}

// askAll asks again for the rest when one does not answer, until two have not, or twice the time to wait for one is over.
func askAll(root string, points []string, start func(paths []string) asker, wait time.Duration) volumes {
	var all volumes
	over := time.Now().Add(maxSilent * wait)
	for given := 0; len(points) > 0 && given < maxSilent && time.Now().Before(over); given++ {
		asked := start(prefixed(root, points))
		answered, cut := collect(asked, len(points), wait, over)
		for index, each := range answered {
			each.path = points[index]
			if each.blocks > 0 || each.nodes > 0 {
				all.disks = append(all.disks, each)
			}
		}
		// What runs lacks a CPU, not an answer.
		hangs := cut && !isRunning(asked.state())
		asked.leave()
		points = points[len(answered):]
		if len(points) > 0 {
			if hangs {
				all.silent = append(all.silent, points[0])
			}
			points = points[1:]
		}
	}
	return all
}

func isRunning(state byte) bool { return state == 0 || state == 'R' }

// collect takes the answers as they come; cut is true when it stopped because one took longer than wait, or all of them too long.
func collect(from asker, count int, wait time.Duration, over time.Time) (answered []disk, cut bool) {
	for len(answered) < count {
		patience := time.NewTimer(min(wait, time.Until(over)))
		select {
		case one, more := <-from.answers:
			patience.Stop()
			if !more {
				return answered, false
			}
			answered = append(answered, one)
		case <-patience.C:
			return answered, true
		}
	}
	return answered, false
}

func prefixed(root string, points []string) []string {
	paths := make([]string, len(points))
	for index, each := range points {
		paths[index] = root + each
	}
	return paths
}

// diskOf asks one file system.
func diskOf(path string) disk {
	var system syscall.Statfs_t
	if syscall.Statfs(path, &system) != nil {
		return disk{}
	}
	return disk{blocks: system.Blocks, available: system.Bavail, nodes: system.Files, spare: system.Ffree}
}
