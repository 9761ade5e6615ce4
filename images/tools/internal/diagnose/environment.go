package diagnose

import "kdebug/tools/internal/rules"

type environmentSection struct{}

func (s *environmentSection) begin(look *Look) {}

func (s *environmentSection) end(look *Look) *rules.Part {
	return rules.NewPart("environment").Skip("not written yet")
}
