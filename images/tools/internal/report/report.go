// Package report has the report that a diagnostic image leaves at the end of its log, as docs/diagnostic-images.md and
// schema/diagnostic-report.schema.json describe it.
package report

import (
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
	// minMessage is the share of the termination message that each of twelve containers of a pod has (the kubelet cuts the
	// messages of all to 12 KiB, and a cut report is none); maxMessage is for those who know that there are fewer.
	minMessage = 1024
	maxMessage = 3072
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
	Verdict string
	Tool    Tool
	Self    *Self
	Target  *Target
	// Doubt is what may be wrong and is no finding, for the verdict; it is not written by itself.
	Doubt string
	// Unsure is whether it does not call the target well, although it found nothing; the verdict says why.
	Unsure   bool
	Findings []Finding
	Sections []Section
	Cost     *Cost
	// SampleSeconds is how long it measured; 0 is left out.
	SampleSeconds float64
	// Series are what charts may show, Facts what is compared with other pods, and FactsCut the groups of which not all were told. They are in
	// the log's report only.
	Series   []Series
	Facts    []Fact
	FactsCut []string
	// Key is what only we know of those who could write into our message; "" is left out.
	Key string
	// Message is the most bytes of the termination message; 0: 1,024.
	Message int
}

// Series is one line of a chart. Points are milliseconds since the sample began, and the value.
type Series struct {
	Section string     `json:"section"`
	Text    string     `json:"text"`
	Unit    string     `json:"unit"`
	Limit   *int64     `json:"limit,omitempty"`
	Points  [][2]int64 `json:"points"`
}

// Fact is one thing to be compared with other pods: a number, or a text where Number is nil.
type Fact struct {
	Group, Name, Text string
	Number            *int64
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
	Capabilities []string `json:"capabilities,omitzero"`
}

// Target is whom the report is about. Effective is true when its processes were visible.
type Target struct {
	Effective    bool     `json:"effective"`
	PID          int      `json:"pid,omitempty"`
	UID          *int     `json:"uid,omitempty"`
	GID          *int     `json:"gid,omitempty"`
	Name         string   `json:"name,omitempty"`
	Capabilities []string `json:"capabilities,omitzero"`
	// Runtime is what runs its code; "" is left out.
	Runtime string `json:"runtime,omitempty"`
	// PtraceScope is Yama's on its node; nil where it has none, or nobody looked.
	PtraceScope *int `json:"ptraceScope,omitempty"`
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
		line.WriteRune(printable(char))
	}
	return line.String()
}

// Lines keeps the lines of a text that a runtime wrote, and its tabs: each other character that is not printable becomes "?", as in Line.
func Lines(text string) string {
	return strings.Map(func(char rune) rune {
		if char != '\n' && char != '\t' {
			return printable(char)
		}
		return char
	}, text)
}

// printable is a character, or "?". Not what changes the direction of text, which unicode counts as printable in some tables and kdebug does not.
func printable(char rune) rune {
	if !unicode.IsPrint(char) || unicode.Is(unicode.Cf, char) {
		return '?'
	}
	return char
}

// Short is the report as the termination log has it.
func (r *Report) Short() ([]byte, error) {
	return r.within(min(max(r.Message, minMessage), maxMessage))
}

// Write writes the marked report to stdout, where it must be the last thing, and a shorter one to the termination log;
// "" is none. A termination log that cannot be written is not an error: kdebug reads the log first.
func (r *Report) Write(stdout io.Writer, terminationLog string) error {
	whole, err := r.within(maxReport)
	if err != nil {
		return err
	}
	if terminationLog != "" {
		if short, err := r.Short(); err == nil {
			_ = os.WriteFile(terminationLog, short, 0o600)
		}
	}
	_, err = fmt.Fprintf(stdout, "\n-----BEGIN KDEBUG REPORT-----\n%s\n-----END KDEBUG REPORT-----\n", whole)
	return err
}
