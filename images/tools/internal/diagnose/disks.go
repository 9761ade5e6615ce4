package diagnose

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"kdebug/tools/internal/target"
)

const (
	maxMounts = 40
	// maxSilent file systems are waited for, statfsWait each.
	maxSilent  = 2
	statfsWait = 2 * time.Second
	maxAlso    = 3
)

var (
	realKinds = regexp.MustCompile(`^(ext[234]|xfs|btrfs|overlay|tmpfs|nfs4?|ceph|cifs|zfs|fuse.*|9p|vfat|f2fs)$`)
	kernels   = regexp.MustCompile(`^/(proc|sys)(/|$)`)
)

// mount is a real file system of the target; broken is whether the kernel made it read-only after an error: the mount is writable, the file system not.
type mount struct {
	path   string
	broken bool
}

// fileSystems are the real ones of a mountinfo, one for each device, at most maxMounts.
func fileSystems(mountinfo string) []mount {
	var all []mount
	seen := map[string]bool{}
	for line := range strings.Lines(mountinfo) {
		words := strings.Fields(line)
		dash := slices.Index(words, "-")
		if dash < 6 || len(words) < dash+4 || !realKinds.MatchString(words[dash+1]) {
			continue
		}
		device, path := words[2], words[4]
		if seen[device] || strings.ContainsAny(path, `\*?[`) || kernels.MatchString(path) {
			continue
		}
		seen[device] = true
		all = append(all, mount{path, strings.HasPrefix(words[5], "rw") && strings.HasPrefix(words[dash+3], "ro")})
		if len(all) == maxMounts {
			break
		}
	}
	return all
}

// disk is what a file system says of itself.
type disk struct {
	path                               string
	blocks, available, files, freeNode uint64
}

// space and inodes are the percentage in use; 0 where the file system does not count.
func (d disk) space() int64  { return shareUsed(d.blocks, d.available) }
func (d disk) inodes() int64 { return shareUsed(d.files, d.freeNode) }

func shareUsed(all, free uint64) int64 {
	if all == 0 {
		return 0
	}
	return 100 - int64(float64(free)*100/float64(all))
}

// ask asks file systems one after the other; those that do not answer in time are silent, after two of them no more are asked. A thread that waits for
// one stays behind, and ends with the process.
func ask(mounts []mount, statfs func(path string) (syscall.Statfs_t, error), wait time.Duration) (answers []disk, silent []string) {
	cut := 0
	for _, each := range mounts {
		answer, thread := make(chan *disk, 1), make(chan int, 1)
		go func() {
			// For good, so that the thread's number stays its own.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			thread <- syscall.Gettid()
			numbers, err := statfs(each.path)
			if err != nil {
				answer <- nil
				return
			}
			answer <- &disk{each.path, numbers.Blocks, numbers.Bavail, numbers.Files, numbers.Ffree}
		}()
		id := <-thread
		select {
		case found := <-answer:
			if found != nil {
				answers = append(answers, *found)
			}
			continue
		case <-time.After(wait):
		}
		// One that runs lacks a CPU, not an answer.
		if state, err := target.Proc.Status(fmt.Sprintf("self/task/%d", id)); err != nil || state.State != 'R' {
			silent = append(silent, each.path)
		}
		if cut++; cut == maxSilent {
			break
		}
	}
	return answers, silent
}

// together has one disk for all that have the same numbers and are not empty: a disk is often mounted several times, as the root (overlay) and as volumes.
func together(all []disk) []disk {
	var order []disk
	first, others := map[disk]int{}, map[int][]string{}
	for _, each := range all {
		key := each
		key.path = ""
		at, known := first[key]
		if known && each.blocks != each.available {
			others[at] = append(others[at], each.path)
			continue
		}
		first[key] = len(order)
		order = append(order, each)
	}
	for at, paths := range others {
		also := strings.Join(paths[:min(len(paths), maxAlso)], ", ")
		if rest := len(paths) - maxAlso; rest > 0 {
			also += fmt.Sprintf(" and %d more", rest)
		}
		order[at].path += " (also " + also + ")"
	}
	return order
}
