package diagnose

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"kdebug/tools/internal/target"
)

// compare tells the facts of no section: the identity, limits, variables, programs and configuration of the target. It is called last, and only
// where KDEBUG_COMPARE is set and there is a target.
func (l *Look) compare() {
	fs, pid := l.Target.FS(), l.Target.PID
	l.fact("identity", fmt.Sprintf("%d:%d", l.Target.UID, l.Target.GID), "user")
	l.fact("identity", capabilityWords(l.Target.Effective), "capabilities")
	seccomp := "unknown"
	if l.Target.Seccomp >= 0 {
		seccomp = fmt.Sprint(l.Target.Seccomp)
	}
	l.fact("identity", seccomp, "seccomp mode")
	for _, each := range limitsOf(fs, pid) {
		if comparedLimits[each.name] && each.soft != "" {
			l.fact("limit", each.soft, each.name)
		}
	}
	if !l.Target.Readable {
		return
	}
	l.compareEnvironment(fs, pid)
	// Whoever asks for a file of a dead volume waits in the kernel, and keeps this program from ending.
	if len(l.silent()) > 0 {
		l.cut("program")
		l.cut("config")
		return
	}
	l.comparePrograms()
	if l.Target.Contained() {
		l.compareConfig()
	}
}

var comparedLimits = map[string]bool{
	"open files": true, "processes": true, "stack size": true, "locked memory": true, "address space": true, "core file size": true, "file size": true,
	"cpu time": true,
}

func capabilityWords(set uint64) string {
	if names := target.Capabilities(set); len(names) > 0 {
		return strings.Join(names, ",")
	}
	return "none"
}

// digest tells contents by four hex digits of a hash under the run's key: enough to see that two differ, too few to guess what they are.
func (l *Look) digest(content io.Reader) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, l.Settings.Compare)
	if _, err := io.Copy(hash, content); err != nil {
		return "", err
	}
	return fmt.Sprintf("#%x", hash.Sum(nil)[:2]), nil
}

// digestOf is the digest of a text.
func (l *Look) digestOf(text string) string {
	digest, _ := l.digest(strings.NewReader(text))
	return digest
}
