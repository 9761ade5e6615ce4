package target

import "syscall"

// FindAsItsUser is Find, and where the target's files are not readable, but we may take its user and the target has no capability that this
// would cost us, it takes its user for good and looks again: root without SYS_PTRACE, as under the profile baseline, then sees what the target's
// own user sees. The Self is who we were before.
func FindAsItsUser() (*Target, Self, error) {
	self := Whoami()
	target, err := Find()
	if err != nil || target.Readable || target.Permitted != 0 || !Has(self.Effective, "SETUID") || !Has(self.Effective, "SETGID") {
		return target, self, err
	}
	// Of all threads; the group first, while we may.
	if syscall.Setgroups(nil) != nil || syscall.Setresgid(target.GID, target.GID, target.GID) != nil || syscall.Setresuid(target.UID, target.UID, target.UID) != nil {
		return target, self, nil
	}
	again, err := Find()
	if err != nil {
		return target, self, nil
	}
	return again, self, nil
}
