package probe

import (
	"net"
	"net/netip"
	"testing"
)

func TestPeersInTroubleAreTriedAndOthersAreNot(t *testing.T) {
	good := netip.MustParseAddrPort(listen(t, func(net.Conn) {}))
	refused := netip.MustParseAddrPort("127.0.0.1:1")
	part := Peers(t.Context(), Place{}, []netip.AddrPort{
		netip.MustParseAddrPort("8.8.8.8:53"), netip.MustParseAddrPort("169.254.169.254:80"), netip.MustParseAddrPort("10.0.0.1:10250"), good, refused,
	})
	if codes(part) != "peer_refused" || part.Section.Text != "1 of 2 peers connect" {
		t.Errorf("%s %+v", codes(part), part)
	}
	if part := Peers(t.Context(), Place{}, nil); part.Section.State != "not-looked-at" {
		t.Errorf("%+v", part)
	}
}
