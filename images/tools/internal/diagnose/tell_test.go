package diagnose

import (
	"strings"
	"testing"

	"kdebug/tools/internal/report"
)

func TestTheVerdictNeverSaysThatAllIsWell(t *testing.T) {
	sections := []report.Section{{State: report.OK}, {State: report.NotLookedAt}, {State: report.NotReadable}}
	long := report.Finding{Text: strings.Repeat("x", 300)}
	for _, each := range []struct {
		findings []report.Finding
		sections []report.Section
		verdict  string
	}{
		{nil, sections[:2], "Nothing found in 2 sections; it does not see inside the program."},
		{nil, sections[:1], "Nothing found in 1 section; it does not see inside the program."},
		{nil, sections, "Nothing found in 2 sections (1 of 3 sections not readable); it does not see inside the program."},
		{[]report.Finding{{Text: "a"}}, sections[:2], "1 finding: a."},
		{[]report.Finding{{Text: "a"}, {Text: "b"}}, sections, "2 findings: a; b (1 of 3 sections not readable)."},
		{[]report.Finding{long}, nil, "1 finding: " + strings.Repeat("x", 217) + "...."},
	} {
		if got := verdictOf(&report.Report{Findings: each.findings, Sections: each.sections}); got != each.verdict {
			t.Errorf("%q, not %q", got, each.verdict)
		}
	}
	doubtful := &report.Report{Sections: sections[:1], Doubt: "1 connection to 10.1.2.3:5432 has waited 33 s for an answer"}
	if got := verdictOf(doubtful); got != "1 connection to 10.1.2.3:5432 has waited 33 s for an answer; nothing found in 1 section; it does not see inside the program." {
		t.Error(got)
	}
}

func TestTheRunIsNamedByPlainLettersOnly(t *testing.T) {
	for run, name := range map[string]string{"": "none", "abc-1._": "abc-1._", "a b": "unnamed", "-----BEGIN KDEBUG REPORT-----": "unnamed", "é": "unnamed"} {
		if got := runName(run); got != name {
			t.Errorf("%q is %q", run, got)
		}
	}
}
