// Package report has the report that a diagnostic image leaves at the end of its log, as docs/diagnostic-images.md and
// schema/diagnostic-report.schema.json describe it.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
)

// Limits of what kdebug reads; a text is cut, and a list too.
const (
	maxText  = 300
	maxWord  = 40
	maxItems = 20
	// maxReport leaves room for the marks in the last 16 KiB of a log, which is where kdebug looks.
	maxReport = 16_000
	// maxMessage is the share of the termination message that each of twelve containers of a pod has (the kubelet cuts the
	// messages of all to 12 KiB, and a cut report is none).
	maxMessage = 1024
	maxID      = 2_147_483_647
)

// States of a section.
const (
	OK          = "ok"
	Found       = "finding"
	NotReadable = "not-readable"
	NotLookedAt = "not-looked-at"
)

// What would make a section readable.
const (
	Identity = "identity"
	General  = "general"
	Sysadmin = "sysadmin"
	ATarget  = "target"
)

// Report is one diagnosis. Texts may come from the target: Write makes each one line of printable characters.
type Report struct {
	Verdict  string
	Tool     Tool
	Self     *Self
	Target   *Target
	Findings []Finding
	Sections []Section
	Cost     *Cost
	// SampleSeconds is how long it measured; 0 is left out.
	SampleSeconds float64
}

// Tool names the image.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Self is who the diagnosis ran as.
type Self struct {
	UID          int      `json:"uid"`
	GID          int      `json:"gid"`
	Capabilities []string `json:"capabilities,omitempty"`
}

// Target is whom the report is about. Effective is true when its processes were visible.
type Target struct {
	Effective    bool     `json:"effective"`
	PID          int      `json:"pid,omitempty"`
	UID          *int     `json:"uid,omitempty"`
	GID          *int     `json:"gid,omitempty"`
	Name         string   `json:"name,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
}

// Finding is a problem; the worst comes first. Value and Threshold are nil where there is no number.
type Finding struct {
	Code      string   `json:"code"`
	Section   string   `json:"section,omitempty"`
	Value     *float64 `json:"value,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
	Text      string   `json:"text"`
	Next      string   `json:"next,omitempty"`
}

// Section is one thing that was looked at. Lacks and Helps are for NotReadable only.
type Section struct {
	Name  string   `json:"name"`
	State string   `json:"state"`
	Text  string   `json:"text"`
	Lacks string   `json:"lacks,omitempty"`
	Helps []string `json:"helps,omitempty"`
}

// Cost is what the diagnosis itself took.
type Cost struct {
	Milliseconds    int64 `json:"milliseconds"`
	CPUMilliseconds int64 `json:"cpuMilliseconds"`
	MemoryBytes     int64 `json:"memoryBytes"`
}

type document struct {
	Version       int       `json:"kdebug"`
	Tool          Tool      `json:"tool"`
	Verdict       string    `json:"verdict"`
	Self          *Self     `json:"self,omitempty"`
	Target        *Target   `json:"target,omitempty"`
	Findings      []Finding `json:"findings"`
	Sections      []Section `json:"sections"`
	Cost          *Cost     `json:"cost,omitempty"`
	SampleSeconds float64   `json:"sampleSeconds,omitempty"`
}

// Number is for Finding.Value and Finding.Threshold.
func Number(value float64) *float64 { return &value }

// ID is for Target.UID and Target.GID.
func ID(value int) *int { return &value }

// Line makes one line of printable characters of a text: each other character becomes "?". A target chooses the names of
// its threads and functions, and must not write lines of its own. Longer than most characters, it is cut and ends in "…".
func Line(text string, most int) string {
	var line strings.Builder
	for count, char := range []rune(strings.TrimSpace(text)) {
		if count == most-1 && len([]rune(text)) > most {
			line.WriteRune('…')
			break
		}
		// Not what changes the direction of text, which unicode counts as printable in some tables and kdebug does not.
		if !unicode.IsPrint(char) || unicode.Is(unicode.Cf, char) {
			char = '?'
		}
		line.WriteRune(char)
	}
	return line.String()
}

// Write writes the marked report to stdout, where it must be the last thing, and a shorter one to the termination log;
// "" is none. A termination log that cannot be written is not an error: kdebug reads the log first.
func (r *Report) Write(stdout io.Writer, terminationLog string) error {
	whole, err := r.within(maxReport)
	if err != nil {
		return err
	}
	if terminationLog != "" {
		if short, err := r.within(maxMessage); err == nil {
			_ = os.WriteFile(terminationLog, short, 0o600)
		}
	}
	_, err = fmt.Fprintf(stdout, "\n-----BEGIN KDEBUG REPORT-----\n%s\n-----END KDEBUG REPORT-----\n", whole)
	return err
}

// shape is how much of a report is kept, from all to the least.
type shape struct {
	findings, words int
	next, texts     bool
	sections        bool
}

var shapes = []shape{
	{maxItems, maxText, true, true, true},
	{maxItems, maxText, true, false, true},
	{8, 120, true, false, true},
	{5, 120, true, false, true},
	{5, 120, false, false, true},
	{3, 100, false, false, false},
	{1, 60, false, false, false},
}

// within gives the fullest form of the report that has at most so many bytes.
func (r *Report) within(most int) ([]byte, error) {
	var text []byte
	for _, shape := range shapes {
		var err error
		if text, err = json.Marshal(r.shaped(shape)); err != nil {
			return nil, err
		}
		if len(text) <= most {
			return text, nil
		}
	}
	return nil, fmt.Errorf("the report has %d bytes, of at most %d", len(text), most)
}

func (r *Report) shaped(shape shape) document {
	doc := document{
		Version: 1, Tool: Tool{Line(r.Tool.Name, maxWord), Line(r.Tool.Version, maxWord)}, Verdict: Line(r.Verdict, min(maxText, shape.words*2)),
		Cost: r.Cost, SampleSeconds: r.SampleSeconds, Findings: []Finding{}, Sections: []Section{},
	}
	if r.Self != nil && r.Self.UID <= maxID && r.Self.GID <= maxID {
		doc.Self = &Self{UID: r.Self.UID, GID: r.Self.GID}
		if shape.texts {
			doc.Self.Capabilities = r.Self.Capabilities
		}
	}
	if r.Target != nil {
		target := *r.Target
		target.Name = Line(target.Name, maxWord)
		if !shape.texts {
			target.Capabilities = nil
		}
		doc.Target = &target
	}
	for _, finding := range r.Findings[:min(len(r.Findings), shape.findings)] {
		finding.Text = Line(finding.Text, shape.words)
		finding.Next = Line(finding.Next, maxText)
		if !shape.next {
			finding.Next = ""
		}
		doc.Findings = append(doc.Findings, finding)
	}
	for _, section := range r.Sections[:min(len(r.Sections), maxItems)] {
		if !shape.sections {
			break
		}
		section.Text, section.Lacks = Line(section.Text, maxText), Line(section.Lacks, maxText)
		if !shape.texts {
			section.Text, section.Lacks = "", ""
		}
		if section.State != NotReadable {
			section.Lacks, section.Helps = "", nil
		}
		doc.Sections = append(doc.Sections, section)
	}
	return doc
}
