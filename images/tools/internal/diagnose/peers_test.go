package diagnose

import (
	"net/netip"
	"slices"
	"testing"

	"kdebug/tools/internal/probe"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/sockets"
)

func TestWhatIsTriedOnceMoreIsFoundOnlyWhereItFails(t *testing.T) {
	api, peer, other := netip.MustParseAddrPort("10.96.0.1:443"), netip.MustParseAddrPort("10.1.2.3:5432"), netip.MustParseAddrPort("10.1.2.4:80")
	for _, each := range []struct {
		what  string
		peers []sockets.Peer
		tried []probe.Tried
		text  string
		codes []string
	}{
		{"all reachable", []sockets.Peer{{Place: peer}}, []probe.Tried{{Peer: peer, Result: probe.Reachable}},
			"1 peer, 0 of them outside the private ranges and never tried; tried 1: 1 reachable, 0 refused, 0 without an answer", nil},
		{"an API server that the pod may be kept from", nil, []probe.Tried{{Peer: api, Result: probe.Timeout}},
			"0 peers, 0 of them outside the private ranges and never tried; the API server: timeout; tried 0: 0 reachable, 0 refused, 0 without an answer", nil},
		{"an API server that it talks to", []sockets.Peer{{Place: api}}, []probe.Tried{{Peer: api, Result: probe.Timeout}},
			"1 peer, 0 of them outside the private ranges and never tried; the API server: timeout; tried 1: 0 reachable, 0 refused, 1 without an answer", []string{"peer_timeout"}},
		{"one refuses and one is silent", []sockets.Peer{{Place: peer}, {Place: other}}, []probe.Tried{{Peer: peer, Result: probe.Refused}, {Peer: other, Result: probe.Timeout}},
			"2 peers, 0 of them outside the private ranges and never tried; tried 2: 0 reachable, 1 refused, 1 without an answer", []string{"peer_refused", "peer_timeout"}},
	} {
		done := make(chan struct{})
		close(done)
		part := (&peersSection{peers: each.peers, api: api, tried: each.tried, done: done}).end(&Look{})
		var codes []string
		for _, finding := range part.Findings {
			codes = append(codes, finding.Code)
		}
		if part.Section.Text != each.text || !slices.Equal(codes, each.codes) || (part.Section.State == report.Found) != (len(codes) > 0) {
			t.Errorf("%s: %s, %v", each.what, part.Section.Text, codes)
		}
	}
}
