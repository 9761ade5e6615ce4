package probe

import (
	"fmt"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

// Result is what one step found.
type Result struct {
	// Lines are for people.
	Lines    []string
	Findings []report.Finding
	Section  report.Section
}

func newResult(section string) *Result {
	return &Result{Section: report.Section{Name: section, State: report.OK}}
}

func (r *Result) line(format string, words ...any) {
	r.Lines = append(r.Lines, report.Line(fmt.Sprintf(format, words...), 240))
}

// found adds a finding when the value is beyond its rule's threshold; a rule without one is found by being there.
func (r *Result) found(code string, value float64, format string, words ...any) {
	finding, beyond := rules.Find(code, value, fmt.Sprintf(format, words...))
	if beyond {
		finding.Section = r.Section.Name
		r.Findings = append(r.Findings, finding)
		r.Section.State = report.Found
	}
}

func milliseconds(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}
