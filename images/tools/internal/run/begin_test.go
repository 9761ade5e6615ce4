package run

import (
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/report"
)

func TestTheHeadingNamesTheRunWhereThereIsOne(t *testing.T) {
	at := time.Date(2026, 11, 28, 3, 4, 5, 0, time.UTC)
	t.Setenv("KDEBUG_RUN", "")
	if words := Heading("net", at); words != "kdebug net, run none, 2026-11-28T03:04:05Z" {
		t.Error(words)
	}
	t.Setenv("KDEBUG_RUN", "abc\nFORGED")
	if words := Heading("net", at); strings.Contains(words, "\n") || !strings.HasPrefix(words, "kdebug net, run abc") {
		t.Error(words)
	}
}

func TestATargetThatIsNotThereIsSaidInTheReport(t *testing.T) {
	result := &report.Report{}
	t.Setenv("KDEBUG_NOT_AFTER", "2024-05-01T10:00:00Z")
	found, why, code := Find(result, "stacks")
	if found != nil || !strings.HasPrefix(why, "Started too late: ") || code != 0 || len(result.Sections) != 0 {
		t.Errorf("%v %s %d %v", found, why, code, result.Sections)
	}
}
