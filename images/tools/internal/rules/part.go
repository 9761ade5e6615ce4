package rules

import (
	"fmt"

	"kdebug/tools/internal/report"
)

// Part is what one step of a diagnosis found: a section of the report, its findings, and lines for people.
type Part struct {
	Lines    []string
	Findings []report.Finding
	Section  report.Section
	// Doubt is the first thing of its lines that may be wrong and is no finding; "" for none.
	Doubt string
}

const maxLine = 240

// NewPart makes a part in which nothing was found.
func NewPart(section string) *Part {
	return &Part{Section: report.Section{Name: section, State: report.OK}}
}

// Say adds a line for people. Words may come from anybody: they become one line of printable characters.
func (p *Part) Say(format string, words ...any) {
	p.Lines = append(p.Lines, report.Line(fmt.Sprintf(format, words...), maxLine))
}

// Find adds a finding when the value is beyond its rule's threshold; a rule without one is found by being there.
func (p *Part) Find(code string, value float64, format string, words ...any) {
	finding, beyond := Find(code, value, fmt.Sprintf(format, words...))
	if beyond {
		p.Add(finding)
	}
}

// Add takes over a finding, as one of this section.
func (p *Part) Add(finding report.Finding) {
	finding.Section = p.Section.Name
	p.Findings = append(p.Findings, finding)
	p.Section.State = report.Found
}

// Skip says that there was nothing to look at.
func (p *Part) Skip(why string) *Part {
	p.Section.State, p.Section.Text = report.NotLookedAt, why
	return p
}

// Blind says that it could not be read, what lacked for it, and what would help, best first; nothing where nothing of kdebug would.
func (p *Part) Blind(why, lacks string, helps ...string) *Part {
	p.Section.State, p.Section.Text, p.Section.Lacks, p.Section.Helps = report.NotReadable, why, lacks, helps
	return p
}
