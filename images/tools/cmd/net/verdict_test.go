package main

import (
	"testing"

	"kdebug/tools/internal/rules"
)

// A first line is cut: what may be wrong must not be behind what is well.
func TestWhatMayBeWrongStandsBeforeWhatIsWell(t *testing.T) {
	part := rules.NewPart("sockets")
	part.Doubt = "1 connection to 127.0.0.1:9999 has waited 12 s for an answer"
	if got := (&look{parts: []*rules.Part{part}}).verdict(nil); got != "1 connection to 127.0.0.1:9999 has waited 12 s for an answer; no problems found with the pod's sockets, peers and name servers." {
		t.Error(got)
	}
	if got := (&look{}).verdict(nil); got != "No problems found with the pod's sockets, peers and name servers." {
		t.Error(got)
	}
}
