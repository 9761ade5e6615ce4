package diagnose

import (
	"bufio"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// mount is one line of /proc/PID/mountinfo (proc(5)).
type mount struct {
	// device is its MAJOR:MINOR.
	device string
	// root is what of the file system is mounted, point where the target sees it.
	root, point string
	kind        string
	// options are those of this mount, super those of the file system below it.
	options, super string
}

// The target chooses how many mounts it has, where it may mount, and the names of their folders.
const (
	maxMounts    = 2000
	maxMountinfo = 1 << 20
)

// readMounts reads a mountinfo. Lines of another form are left out.
func readMounts(text io.Reader) []mount {
	var mounts []mount
	lines := bufio.NewScanner(io.LimitReader(text, maxMountinfo))
	lines.Buffer(nil, 64<<10)
	for lines.Scan() && len(mounts) < maxMounts {
		before, after, _ := strings.Cut(lines.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if len(left) < 6 || len(right) < 1 {
			continue
		}
		one := mount{device: left[2], root: left[3], point: left[4], options: left[5], kind: right[0]}
		if len(right) > 2 {
			one.super = right[2]
		}
		mounts = append(mounts, one)
	}
	return mounts
}

func (m mount) readOnly() bool { return firstOption(m.options) == "ro" }

// isMachine is whether it shows the kernel or its devices, not files of the target.
func (m mount) isMachine() bool { return m.below("/proc") || m.below("/sys") || m.below("/dev") }

func (m mount) below(folder string) bool {
	return m.point == folder || strings.HasPrefix(m.point, folder+"/")
}

// isPlain: mountinfo writes a space or a newline in a name as a backslash and digits, and nobody mounts there by accident.
func (m mount) isPlain() bool {
	return !strings.ContainsRune(m.point, '\\') && path.Clean(m.point) == m.point
}

func firstOption(options string) string {
	one, _, _ := strings.Cut(options, ",")
	return one
}

// onDisks are the kinds of file systems of this node that hold files and can be full.
var onDisks = []string{"ext2", "ext3", "ext4", "xfs", "btrfs", "overlay", "tmpfs", "zfs", "vfat", "f2fs"}

// isByOthers is whether the answers of a kind come from another machine or another program, so that asking may take for ever.
func isByOthers(kind string) bool {
	return strings.HasPrefix(kind, "fuse") || slices.Contains([]string{"nfs", "nfs4", "ceph", "cifs", "9p"}, kind)
}

const maxFileSystems = 40

// fileSystems are the target's real ones, one mount of each, at most 40.
func fileSystems(mounts []mount) []mount {
	var systems []mount
	seen := map[string]bool{}
	for _, each := range mounts {
		if !slices.Contains(onDisks, each.kind) && !isByOthers(each.kind) || seen[each.device] || !each.isPlain() || each.below("/proc") || each.below("/sys") {
			continue
		}
		seen[each.device] = true
		if systems = append(systems, each); len(systems) == maxFileSystems {
			break
		}
	}
	return systems
}

// madeReadOnly is whether the kernel made the file system read-only after an error: the mount may still be written to.
func (m mount) madeReadOnly() bool {
	return firstOption(m.options) == "rw" && firstOption(m.super) == "ro"
}

// mounts are those that the target sees; none where it does not let us look.
func (l *Look) mounts() []mount {
	file, err := os.Open(l.Target.FS().Path(l.Target.PID, "mountinfo"))
	if err != nil {
		return nil
	}
	defer file.Close()
	return readMounts(file)
}
