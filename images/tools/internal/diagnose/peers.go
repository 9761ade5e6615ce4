package diagnose

import "kdebug/tools/internal/rules"

type peersSection struct{}

func (s *peersSection) begin(look *Look) {}

func (s *peersSection) end(look *Look) *rules.Part {
	return rules.NewPart("peers").Skip("not written yet")
}
