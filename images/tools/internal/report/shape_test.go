package report

import (
	"fmt"
	"strings"
	"testing"
)

func rich() *Report {
	r := &Report{
		Verdict: "Much is wrong.", Tool: Tool{"autodiagnose", "1.0.0"}, Self: &Self{Capabilities: []string{}}, SampleSeconds: 3,
		Target: &Target{Effective: true, PID: 1, Capabilities: []string{"KILL"}, Runtime: "jvm", PtraceScope: ID(0)},
		Series: []Series{{Section: "cpu", Text: "CPU in use", Unit: "millicores", Points: [][2]int64{{100, 1}, {200, 2}, {300, 3}}}},
		Facts:  []Fact{{Group: "env", Name: "PATH", Text: "#12ab"}, {Group: "threads", Name: "threads", Number: new(int64)}},
	}
	for index := range 13 {
		r.Findings = append(r.Findings, Finding{Code: fmt.Sprintf("code%d", index), Section: "cpu", Text: strings.Repeat("x", 90), Next: strings.Repeat("y", 90)})
		r.Sections = append(r.Sections, Section{Name: "cpu", State: NotReadable, Text: strings.Repeat("z", 200), Lacks: "much", Helps: []string{General}})
	}
	return r
}

func TestAMessageIsCutInSteps(t *testing.T) {
	for _, each := range []struct {
		message, findings, sections int
		next                        bool
	}{{0, 3, 0, false}, {2048, 5, 13, false}, {3072, 8, 13, true}, {9999, 8, 13, true}} {
		r := rich()
		r.Message = each.message
		text, err := r.within(min(max(r.Message, minMessage), maxMessage))
		if err != nil {
			t.Fatal(err)
		}
		findings, sections := strings.Count(string(text), `"code":`), strings.Count(string(text), `"name":"cpu"`)
		next := strings.Contains(string(text), `"next":`)
		if findings != each.findings || sections != each.sections || next != each.next {
			t.Errorf("%d bytes: %d findings, %d sections, next steps %v, in %d bytes", each.message, findings, sections, next, len(text))
		}
		for _, word := range []string{`"series"`, `"facts"`, `"runtime"`, `"capabilities"`} {
			if strings.Contains(string(text), word) {
				t.Errorf("%d bytes have %s", each.message, word)
			}
		}
	}
}

func TestTheLogsReportHasSeriesAndFacts(t *testing.T) {
	text, err := rich().within(maxReport)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{
		`"facts":[["#12ab","env","PATH"],[0,"threads","threads"]]`, `"points":[[100,1],[200,2],[300,3]]`, `"runtime":"jvm"`, `"ptraceScope":0`,
		`"self":{"uid":0,"gid":0,"capabilities":[]}`,
	} {
		if !strings.Contains(string(text), word) {
			t.Errorf("%s lacks in %s", word, text)
		}
	}
}

func TestFactsThatDoNotFitAreSaid(t *testing.T) {
	r := &Report{FactsCut: []string{"peer"}}
	for range 300 {
		r.Facts = append(r.Facts, Fact{Group: "env", Name: strings.Repeat("n", 200), Text: "#0000"})
	}
	told, cuts := r.facts()
	if len(told) == 0 || len(told)*90 > maxFacts+90 || strings.Join(cuts, ",") != "peer,env" || len(told[0][2].(string)) > maxFact+2 {
		t.Errorf("%d told, cut %v", len(told), cuts)
	}
}
