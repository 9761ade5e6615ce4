package diagnose

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"kdebug/tools/internal/target"
)

const (
	// maxListed bounds the processes whose open files and arguments are read.
	maxListed = 64
	maxDepth  = 200
)

// tree are the target's processes.
type tree struct {
	// living are all but the zombies, the container's first one first.
	living []process
	// pids are the living ones whose files are worth a look, at most maxListed: the first, then those with the most room for open files, which leaks
	// make grow.
	pids []int
	// count has the zombies among them; waiting are those in state D.
	count, threads, zombies, waiting int
	residentKiB                      int64
}

type process struct {
	target.Status
	pid int
	// used and later are the CPU time of its own at the first and the second reading, in ticks of 10 ms.
	used, later int64
	title       string
}

// readTree finds the processes of the target's cgroup, where that is not ours, and else its descendants.
func readTree(fs target.FS, root int) tree {
	all := map[int]target.Status{}
	pids := fs.PIDs()
	for _, pid := range pids {
		if status, err := fs.Status(fmt.Sprint(pid)); err == nil {
			all[pid] = status
		}
	}
	place := fs.Cgroup(root)
	if place == fs.Cgroup(os.Getpid()) {
		place = ""
	}
	var found tree
	for _, pid := range pids {
		status, is := all[pid]
		if !is || !inside(fs, all, pid, root, place) {
			continue
		}
		found.count++
		found.threads += status.Threads
		found.residentKiB += status.ResidentKiB
		switch status.State {
		case 'Z', 'X':
			// One whose first thread alone has ended goes on.
			if status.Threads > 1 {
				continue
			}
			found.zombies++
			continue
		case 'D':
			found.waiting++
		}
		found.living = append(found.living, process{Status: status, pid: pid})
	}
	slices.SortStableFunc(found.living, func(a, b process) int { return cmp.Compare(order(a, root), order(b, root)) })
	found.choose(root)
	return found
}

func order(each process, root int) int {
	if each.pid == root {
		return 0
	}
	return 1
}

// inside: where cgroups tell containers apart, they decide, for an orphan of a debug container becomes a child of process 1. A zombie has lost its own.
func inside(fs target.FS, all map[int]target.Status, pid, root int, place string) bool {
	if place != "" && all[pid].State != 'Z' {
		inner := fs.Cgroup(pid)
		return inner == place || strings.HasPrefix(inner, strings.TrimSuffix(place, "/")+"/")
	}
	for depth := 0; depth < maxDepth && pid != 0; depth++ {
		if pid == root {
			return true
		}
		pid = all[pid].Parent
	}
	return false
}

// choose sets pids.
func (t *tree) choose(root int) {
	chosen := slices.Clone(t.living)
	slices.SortStableFunc(chosen, func(a, b process) int {
		return cmp.Or(cmp.Compare(order(a, root), order(b, root)), cmp.Compare(b.Slots, a.Slots))
	})
	for _, each := range chosen[:min(len(chosen), maxListed)] {
		t.pids = append(t.pids, each.pid)
	}
}
