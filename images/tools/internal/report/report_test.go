package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func written(t *testing.T, r *Report) (map[string]any, map[string]any) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "termination")
	var log strings.Builder
	if err := r.Write(&log, file); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
	last := len(lines) - 1
	if lines[last] != "-----END KDEBUG REPORT-----" || lines[last-2] != "-----BEGIN KDEBUG REPORT-----" {
		t.Fatalf("no marks: %q", lines)
	}
	message, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(message) > 1024 || len(lines[last-1]) > 16_000 {
		t.Errorf("%d bytes of message, %d of report", len(message), len(lines[last-1]))
	}
	var long, short map[string]any
	if err := json.Unmarshal([]byte(lines[last-1]), &long); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(message, &short); err != nil {
		t.Fatal(err)
	}
	return long, short
}

func TestAReportIsWritten(t *testing.T) {
	long, short := written(t, &Report{
		Verdict:  "Two threads wait for each other.",
		Tool:     Tool{"stacks", "0.1.0"},
		Self:     &Self{UID: 10001, GID: 0},
		Target:   &Target{Effective: true, PID: 1, UID: ID(0), GID: ID(0), Name: "java"},
		Findings: []Finding{{Code: "deadlock", Section: "threads", Value: Number(0), Text: "2 threads", Next: "Look."}},
		Sections: []Section{{Name: "threads", State: Found, Text: "9 threads"}, {Name: "heap", State: NotReadable, Text: "no", Lacks: "a right", Helps: []string{Identity}}},
		Cost:     &Cost{1, 2, 3},
	})
	if long["kdebug"] != 1.0 || long["verdict"] != "Two threads wait for each other." || short["verdict"] != long["verdict"] {
		t.Errorf("%v", long)
	}
	target := long["target"].(map[string]any)
	if target["uid"] != 0.0 {
		t.Errorf("root is not said: %v", target)
	}
	if finding := long["findings"].([]any)[0].(map[string]any); finding["value"] != 0.0 {
		t.Errorf("a value of 0 is lost: %v", finding)
	}
}

func TestALongReportIsCutAndStaysWhole(t *testing.T) {
	wide := strings.Repeat("ä\"", 400)
	r := &Report{Verdict: wide, Tool: Tool{Name: wide}, Target: &Target{Effective: true, Name: wide}}
	for range 40 {
		r.Findings = append(r.Findings, Finding{Code: "busy", Text: wide, Next: wide})
		r.Sections = append(r.Sections, Section{Name: "threads", State: NotReadable, Text: wide, Lacks: wide, Helps: []string{Identity, General, Sysadmin}})
	}
	long, short := written(t, r)
	if length := utf8.RuneCountInString(long["verdict"].(string)); length < 200 || length > 300 {
		t.Errorf("a verdict of %d characters", length)
	}
	if findings, left := len(long["findings"].([]any)), len(short["findings"].([]any)); findings < 5 || findings > 20 || left == 0 {
		t.Errorf("%d findings, %d in the message", findings, left)
	}
}

func TestALineIsOneLine(t *testing.T) {
	for text, line := range map[string]string{
		"a\nb\x00c\u202ed\u2028e":  "a?b?c?d?e",
		"  main-2 ":                "main-2",
		"\xff":                     "\uFFFD",
		"größer":                   "größer",
		strings.Repeat("x", 10):    strings.Repeat("x", 10),
		strings.Repeat("y", 11):    strings.Repeat("y", 9) + "…",
		"-----BEGIN KDEBUG FILE x": "-----BEGI…",
	} {
		if got := Line(text, 10); got != line {
			t.Errorf("%q became %q, not %q", text, got, line)
		}
	}
}

func TestTextOfARuntimeKeepsItsLinesAndNoOtherControlCharacter(t *testing.T) {
	if got := Lines("a\tb\n\x1b[2J\r\u202ec\x00é\xff\n"); got != "a\tb\n?[2J??c?é?\n" && got != "a\tb\n?[2J??c?é\ufffd\n" {
		t.Errorf("%q", got)
	}
}
