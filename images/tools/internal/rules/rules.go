// Package rules has the findings of docs/findings.md: thresholds and next steps come from the one table, src/core/diagnosis/.
package rules

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"kdebug/tools/internal/report"
)

//go:embed findings.tsv
var table string

// Rule is one thing that can be found.
type Rule struct {
	Section string
	// Rank: 1 it is failing now, 2 it is about to, 3 worth knowing.
	Rank int
	// Threshold is nil where being there is the finding.
	Threshold *float64
	// Below is true where a value under the threshold is the finding.
	Below bool
	Next  string
}

var byCode = func() map[string]Rule {
	rules := map[string]Rule{}
	for line := range strings.Lines(table) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		rule := Rule{Section: words[1], Below: words[4] == "below", Next: words[5]}
		rule.Rank, _ = strconv.Atoi(words[2])
		if threshold, err := strconv.ParseFloat(words[3], 64); err == nil {
			rule.Threshold = &threshold
		}
		rules[words[0]] = rule
	}
	return rules
}()

// Find makes the finding of a code. False if the value is not beyond the threshold of its rule; a rule without one is always found, and its
// value is left out. A code that is not in the table is a mistake of the program: it panics.
func Find(code string, value float64, text string) (report.Finding, bool) {
	rule, known := byCode[code]
	if !known {
		panic("no rule for the finding " + code)
	}
	finding := report.Finding{Code: code, Section: rule.Section, Text: text, Next: rule.Next}
	if rule.Threshold == nil {
		return finding, true
	}
	finding.Value, finding.Threshold = &value, rule.Threshold
	if rule.Below {
		return finding, value < *rule.Threshold
	}
	return finding, value > *rule.Threshold
}

// Threshold is the one of a rule; 0 where it has none.
func Threshold(code string) float64 {
	if limit := byCode[code].Threshold; limit != nil {
		return *limit
	}
	return 0
}

// Sort puts the worst first, as a verdict does; equal ones stay in their order.
func Sort(findings []report.Finding) {
	slices.SortStableFunc(findings, func(a, b report.Finding) int { return byCode[a.Code].Rank - byCode[b.Code].Rank })
}
