package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/target"
)

// Begin begins the report of an image: who it is, and as whom it looks.
func Begin(name, version string) *report.Report {
	self := target.Whoami()
	return &report.Report{
		Tool:   report.Tool{Name: name, Version: version},
		Self:   &report.Self{UID: self.UID, GID: self.GID, Capabilities: target.Capabilities(self.Effective)},
		Target: &report.Target{},
	}
}

// Heading is the first line of what an image prints.
func Heading(name string, at time.Time) string {
	run := os.Getenv("KDEBUG_RUN")
	if run == "" {
		run = "none"
	}
	return fmt.Sprintf("kdebug %s, run %s, %s", name, report.Line(run, 40), at.UTC().Format(time.RFC3339))
}

// TooLate is the verdict of what began when kdebug had given it up.
const TooLate = "Started too late: this run was given up, so nothing was done."

// NoTarget is the verdict where there is no target: err says why.
func NoTarget(err error) string {
	if !slices.Contains(target.HelpsFor(err), report.ATarget) {
		return "Nothing to look at: " + err.Error() + "."
	}
	return "Nothing to look at: " + err.Error() + ". Name the container (--target)."
}

// Find is the target. Where nothing can be looked at it is nil, and why and code are the verdict and the exit code that go with that; the report then
// says in this section what lacks.
func Find(result *report.Report, section string) (found *target.Target, why string, code int) {
	found, err := target.Find()
	switch {
	case err == nil:
		return found, "", 0
	case errors.Is(err, target.ErrTooLate):
		return nil, TooLate, 0
	case errors.Is(err, target.ErrNoTarget):
		result.Sections = []report.Section{{Name: section, State: report.NotReadable, Text: "no target", Lacks: "a target process", Helps: target.HelpsFor(err)}}
		return nil, NoTarget(err), 0
	}
	return nil, "Could not look: " + err.Error() + ".", 1
}
