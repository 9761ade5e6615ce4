package diagnose

import (
	"fmt"
	"slices"

	"kdebug/tools/internal/report"
)

// rootsDefault are the capabilities that root has in a container unless more is given or some is taken.
const rootsDefault = 0xa80425fb

// blindness says what lacks where the kernel does not let us look into the target, the end of a sentence about what would help, and the profiles that would,
// best first.
func (l *Look) blindness() (lacks, help string, helps []string) {
	lack := l.Target.Blindness(l.Self)
	if lack == nil {
		return "", "", nil
	}
	lacks, helps = "ptrace access to the target: its files, environment and cgroup", lack.Helps
	switch it := l.Target; {
	case !slices.Contains(helps, report.General):
		// No right that a profile below sysadmin brings is what lacks.
		lacks, help = lack.Lacks, "it lacks "+lack.Lacks
	case it.Permitted == rootsDefault:
		help = "needs the profile general (SYS_PTRACE), or baseline as root: the target is root with default capabilities"
	case slices.Contains(helps, report.Identity):
		help = fmt.Sprintf("needs the target's own uid:gid %d:%d, or the profile general (SYS_PTRACE)", it.UID, it.GID)
	default:
		help = "needs the profile general: " + lack.Lacks
	}
	return lacks, help, helps
}
