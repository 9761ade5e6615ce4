package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"kdebug/tools/internal/rules"
)

const maxPeers = 3

// Peers connects to peers of the pod whose connections hang or lose packets, at private addresses only: the pod talks to them anyway.
func Peers(ctx context.Context, place Place, peers []netip.AddrPort) *rules.Part {
	part := rules.NewPart("peers")
	tried, worked := 0, 0
	for _, peer := range peers {
		address := peer.Addr()
		private := address.IsPrivate() || address.IsLoopback()
		if tried == maxPeers || !private || place.Refuses(address) != "" || checkPort(peer.Port()) != nil {
			continue
		}
		tried++
		began := time.Now()
		conn, err := dialer(place).DialContext(ctx, "tcp", peer.String())
		took := milliseconds(time.Since(began))
		switch {
		case err == nil:
			conn.Close()
			worked++
			part.Say("%s connects in %s", peer, took)
			again(ctx, part, place, peer)
		case errors.Is(err, syscall.ECONNREFUSED):
			part.Say("%s refuses connections (%s)", peer, took)
			part.Find("peer_refused", 0, "%s refuses connections", peer)
		default:
			part.Say("%s: %s after %s", peer, why(err), took)
			part.Find("peer_timeout", 0, "%s: %s after %s", peer, why(err), took)
		}
	}
	if tried == 0 {
		return part.Skip("no connection hangs or loses packets")
	}
	part.Section.Text = fmt.Sprintf("%d of %s connect", worked, count(tried, "peer"))
	return part
}
