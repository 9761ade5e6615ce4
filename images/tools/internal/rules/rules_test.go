package rules

import (
	"strings"
	"testing"

	"kdebug/tools/internal/report"
)

func TestFindKnowsTheThresholds(t *testing.T) {
	for _, each := range []struct {
		code  string
		value float64
		found bool
	}{{"close_wait", 100, false}, {"close_wait", 101, true}, {"tls_expiring", 14, false}, {"tls_expiring", -3, true}, {"tls_mismatch", 0, true}} {
		finding, found := Find(each.code, each.value, "words")
		if found != each.found || finding.Next == "" || finding.Section == "" {
			t.Errorf("%s %v: %v %+v", each.code, each.value, found, finding)
		}
	}
	if finding, _ := Find("tls_mismatch", 0, "words"); finding.Value != nil || finding.Threshold != nil {
		t.Error("a rule without a threshold has a value")
	}
}

func TestSortPutsTheWorstFirst(t *testing.T) {
	findings := []report.Finding{{Code: "tls_old"}, {Code: "http_slow"}, {Code: "endpoint_refused"}, {Code: "connect_loss"}}
	Sort(findings)
	if findings[0].Code != "endpoint_refused" || findings[1].Code != "http_slow" || findings[3].Code != "tls_old" {
		t.Errorf("%v", findings)
	}
}

func TestAnUnknownCodePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it must not be quiet about a code that is not in the table")
		}
	}()
	Find("invented", 1, "")
}

func TestEachRuleOfTheTableIsWhole(t *testing.T) {
	for code, rule := range byCode {
		if code == "" || rule.Section == "" || rule.Rank < 1 || rule.Rank > 3 || !strings.HasSuffix(rule.Next, ".") {
			t.Errorf("%s: %+v", code, rule)
		}
	}
	if limit := byCode["cpu_throttled"].Threshold; len(byCode) < 50 || limit == nil || *limit != 10 || byCode["deadlock"].Threshold != nil {
		t.Errorf("%d %v", len(byCode), limit)
	}
}
