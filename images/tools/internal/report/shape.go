package report

import (
	"encoding/json"
	"fmt"
)

const (
	// maxFacts are the bytes of all facts together, maxFact the characters of a name or a text.
	maxFacts = 8000
	maxFact  = 80
	// largeReport: series and facts are in no smaller one.
	largeReport = 4096
)

type document struct {
	Version       int       `json:"kdebug"`
	Key           string    `json:"key,omitempty"`
	Tool          Tool      `json:"tool"`
	Verdict       string    `json:"verdict"`
	Unsure        bool      `json:"unsure,omitempty"`
	Self          *Self     `json:"self,omitempty"`
	Target        *Target   `json:"target,omitempty"`
	Findings      []Finding `json:"findings"`
	Sections      []part    `json:"sections"`
	Cost          *Cost     `json:"cost,omitempty"`
	SampleSeconds float64   `json:"sampleSeconds,omitempty"`
	Series        []Series  `json:"series,omitempty"`
	Facts         [][3]any  `json:"facts,omitempty"`
	FactsCut      []string  `json:"factsCut,omitempty"`
}

type part struct {
	Name  string   `json:"name"`
	State string   `json:"state"`
	Text  *string  `json:"text,omitempty"`
	Lacks string   `json:"lacks,omitempty"`
	Helps []string `json:"helps,omitempty"`
}

// shape is how much of a report is kept.
type shape struct {
	findings int
	// next is whether each finding has its next step, and its whole text.
	next  bool
	level level
}

// level is what is left out, each with what those before leave out.
type level int

const (
	whole level = iota
	// noTexts: the sections have empty texts.
	noTexts
	// noCapabilities: neither these nor the runtime, nor what sections lacked.
	noCapabilities
	noHelps
	// noSections, and fewer words.
	noSections
)

// shapes from all to the least.
var shapes = []shape{
	{maxItems, true, whole},
	{maxItems, true, noTexts},
	{8, true, noCapabilities},
	{5, true, noCapabilities},
	{5, false, noCapabilities},
	{3, false, noHelps},
	{3, false, noSections},
	{1, false, noSections},
}

// within gives the fullest form of the report that has at most so many bytes.
func (r *Report) within(most int) ([]byte, error) {
	var text []byte
	for _, shape := range shapes {
		doc := r.shaped(shape)
		if most > largeReport {
			doc.Series = r.Series
			doc.Facts, doc.FactsCut = r.facts()
		}
		var err error
		if text, err = json.Marshal(doc); err != nil {
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
		Version: 1, Key: r.Key, Tool: Tool{Line(r.Tool.Name, maxWord), Line(r.Tool.Version, maxWord)}, Verdict: Line(r.Verdict, maxText), Unsure: r.Unsure,
		Cost: r.Cost, SampleSeconds: r.SampleSeconds, Findings: []Finding{}, Sections: []part{},
	}
	if shape.level >= noSections {
		doc.Verdict = Line(r.Verdict, 100)
	}
	if r.Self != nil && r.Self.UID <= maxID && r.Self.GID <= maxID {
		self := *r.Self
		if shape.level >= noCapabilities {
			self.Capabilities = nil
		}
		doc.Self = &self
	}
	if r.Target != nil {
		target := *r.Target
		target.Name = Line(target.Name, maxWord)
		if shape.level >= noCapabilities {
			target.Capabilities, target.Runtime, target.PtraceScope = nil, "", nil
		}
		doc.Target = &target
	}
	for _, finding := range r.Findings[:min(len(r.Findings), shape.findings)] {
		doc.Findings = append(doc.Findings, finding.shaped(shape))
	}
	if shape.level < noSections {
		for _, section := range r.Sections[:min(len(r.Sections), maxItems)] {
			doc.Sections = append(doc.Sections, section.shaped(shape.level))
		}
	}
	return doc
}

func (f Finding) shaped(shape shape) Finding {
	words := maxText
	switch {
	case !shape.next && shape.level >= noSections:
		words = 60
	case !shape.next:
		words = 120
	}
	f.Text, f.Next = Line(f.Text, words), Line(f.Next, maxText)
	if !shape.next {
		f.Next = ""
	}
	return f
}

func (s Section) shaped(level level) part {
	doc := part{Name: s.Name, State: s.State}
	if level <= noTexts {
		text := ""
		if level == whole {
			text = Line(s.Text, maxText)
		}
		doc.Text = &text
	}
	if s.State == NotReadable && level <= noCapabilities {
		doc.Helps = s.Helps
		if level <= noTexts {
			doc.Lacks = Line(s.Lacks, maxText)
		}
	}
	return doc
}

// facts are those that fit, each as value, group and name: the value first, for a filter of secrets takes what follows a name for its value. And the
// groups of which some do not.
func (r *Report) facts() ([][3]any, []string) {
	var told [][3]any
	cuts, used := r.FactsCut, 0
	for _, each := range r.Facts {
		item := [3]any{Line(each.Text, maxFact), each.Group, Line(each.Name, maxFact)}
		if each.Number != nil {
			item[0] = *each.Number
		}
		text, err := json.Marshal(item)
		if err == nil && used+len(text) < maxFacts {
			told, used = append(told, item), used+len(text)+1
			continue
		}
		cuts = append(cuts, each.Group)
	}
	return told, unique(cuts)
}

func unique(words []string) []string {
	seen, once := map[string]bool{}, []string{}
	for _, each := range words {
		if !seen[each] {
			seen[each] = true
			once = append(once, each)
		}
	}
	return once
}
