package diagnose

// compare tells the facts of no section: the identity, limits, variables, programs and configuration of the target. It is called last, and only
// where KDEBUG_COMPARE is set and there is a target.
func (l *Look) compare() {}
