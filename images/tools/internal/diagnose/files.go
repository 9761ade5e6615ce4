package diagnose

import "kdebug/tools/internal/rules"

type filesSection struct{}

func (s *filesSection) begin(look *Look) {}

func (s *filesSection) end(look *Look) *rules.Part {
	return rules.NewPart("files").Skip("not written yet")
}
