package target

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// hidden is the label of a process that we may not even read.
const hidden = "hidden"

// maxLabel is how much of a label is told.
const maxLabel = 80

// Label is what AppArmor or SELinux calls the confinement of a process, by its folder, as "1" or "self"; "" where the node has neither. The word *hidden*
// stands for a label that the kernel does not let us read.
func (fs FS) Label(path string) string {
	// The second is of whichever module came first, and of SELinux.
	for _, name := range []string{"attr/apparmor/current", "attr/current"} {
		text, err := os.ReadFile(filepath.Join(string(fs), path, name))
		if os.IsPermission(err) {
			return hidden
		}
		if label := strings.Trim(string(text), "\x00\n "); err == nil && label != "" {
			return strings.Map(printable, label[:min(len(label), maxLabel)])
		}
	}
	return ""
}

func printable(char rune) rune {
	if char < ' ' || char > '~' {
		return '?'
	}
	return char
}

// confines is whether a label keeps a process from anything: not so AppArmor's unconfined and complaining profiles, nor SELinux' types of who may do all.
func confines(label string) bool {
	kind, isSELinux := typeOf(label)
	switch {
	case label == "" || label == hidden || label == "unconfined" || strings.HasSuffix(label, "(complain)") || strings.HasSuffix(label, "(unconfined)"):
		return false
	case isSELinux:
		return kind != "spc_t" && !strings.HasPrefix(kind, "unconfined")
	}
	return true
}

// typeOf is the type in an SELinux context, user:role:type:level; false where it is none.
func typeOf(label string) (kind string, isSELinux bool) {
	parts := strings.SplitN(label, ":", 4)
	if len(parts) < 4 || strings.Contains(label, " (") {
		return "", false
	}
	return parts[2], true
}

// separation is what lacks where a security module keeps us from the target; "" where it does not, as far as both labels tell.
func separation(ours, theirs string) string {
	if !confines(ours) || theirs == "" || theirs == ours {
		return ""
	}
	if _, isSELinux := typeOf(ours); isSELinux {
		return fmt.Sprintf("the SELinux label of the target: its own is %s, ours %s", theirs, ours)
	}
	return fmt.Sprintf("the AppArmor profile of the target: its own is %s, ours %s", theirs, ours)
}

// isSealed is whether a process has made itself unreadable (PR_SET_DUMPABLE): its files in /proc are root's then, and it is not root.
func (fs FS) isSealed(pid, uid int) bool {
	about, err := os.Lstat(fs.Path(pid, "environ"))
	if err != nil || uid == 0 {
		return false
	}
	owner, known := about.Sys().(*syscall.Stat_t)
	return known && owner.Uid == 0
}

// hidesOthers is whether /proc shows no process of others (hidepid, or a sandbox): process 1 is there always.
func (fs FS) hidesOthers(own int) bool {
	if own == 1 {
		return false
	}
	_, err := os.Stat(fs.Path(1))
	return os.IsNotExist(err)
}
