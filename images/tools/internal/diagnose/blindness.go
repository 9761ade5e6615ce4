package diagnose

import (
	"fmt"

	"kdebug/tools/internal/report"
)

// rootsDefault are the capabilities that root has in a container unless more is given or some is taken.
const rootsDefault = 0xa80425fb

// blindness says what lacks where the kernel does not let us look into the target, and the end of a sentence about what would help: SYS_PTRACE, or the
// same uid and gid when we have all of the target's capabilities.
func (l *Look) blindness() (lacks, help string) {
	lacks = "ptrace access to the target: its files, environment and cgroup"
	switch it := l.Target; {
	case it.Permitted == rootsDefault:
		help = "needs the profile general (SYS_PTRACE), or baseline as root: the target is root with default capabilities"
	case l.sameWithoutRights():
		help = fmt.Sprintf("needs the target's own uid:gid %d:%d, or the profile general (SYS_PTRACE)", it.UID, it.GID)
	default:
		help = "needs the profile general (SYS_PTRACE): the target has capabilities that we lack"
	}
	return lacks, help
}

// helps are the profiles that would let us look, best first.
func (l *Look) helps() []string {
	if l.sameWithoutRights() {
		return []string{report.Identity, report.General, report.Sysadmin}
	}
	return []string{report.General, report.Sysadmin}
}

// sameWithoutRights is whether to be the target's user would be enough, and we are another.
func (l *Look) sameWithoutRights() bool {
	return l.Target.Permitted == 0 && (l.Self.UID != l.Target.UID || l.Self.GID != l.Target.GID)
}
