package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

const maxPeers = 3

// Results of a try.
const (
	Reachable   = "reachable"
	Refused     = "refused"
	Timeout     = "timeout"
	Unreachable = "unreachable"
)

// Tried is what a new connection to a peer did.
type Tried struct {
	Peer netip.AddrPort
	// Result is one of the four words above.
	Result string
	Took   time.Duration
	// Why has more words, where it did not connect.
	Why string
}

// Try connects to each peer once, all at the same time, for patience at most, and sends nothing.
func Try(ctx context.Context, place Place, peers []netip.AddrPort, patience time.Duration) []Tried {
	all := make([]Tried, len(peers))
	var each sync.WaitGroup
	for index, peer := range peers {
		each.Go(func() { all[index] = try(ctx, place, peer, patience) })
	}
	each.Wait()
	return all
}

func try(ctx context.Context, place Place, peer netip.AddrPort, patience time.Duration) Tried {
	began := time.Now()
	to := dialer(place)
	to.Timeout = patience
	conn, err := to.DialContext(ctx, "tcp", peer.String())
	tried := Tried{Peer: peer, Result: Reachable, Took: time.Since(began)}
	var timeout interface{ Timeout() bool }
	switch {
	case err == nil:
		conn.Close()
		return tried
	case errors.Is(err, syscall.ECONNREFUSED):
		tried.Result = Refused
	case errors.As(err, &timeout) && timeout.Timeout():
		tried.Result = Timeout
	default:
		tried.Result = Unreachable
	}
	tried.Why = why(err)
	return tried
}

// MayTry is whether a peer of the pod is tried: at a private address that belongs to no node, since the pod talks to it anyway.
func MayTry(place Place, peer netip.AddrPort) bool {
	return IsPrivate(peer.Addr()) && place.Refuses(peer.Addr()) == "" && checkPort(peer.Port()) == nil
}

// Peers connects to peers of the pod that keep connections waiting, or to which packets get lost.
func Peers(ctx context.Context, place Place, peers []netip.AddrPort) *rules.Part {
	part := rules.NewPart("peers")
	var some []netip.AddrPort
	for _, peer := range peers {
		if len(some) < maxPeers && MayTry(place, peer) {
			some = append(some, peer)
		}
	}
	if len(some) == 0 {
		if len(peers) > 0 {
			return part.Skip(fmt.Sprintf("connections to %s wait or lose packets; such addresses are not tried", peers[0]))
		}
		return part.Skip("no connection waits, hangs or loses packets")
	}
	worked := 0
	for _, tried := range Try(ctx, place, some, connectTimeout) {
		took := milliseconds(tried.Took)
		switch tried.Result {
		case Reachable:
			worked++
			part.Say("%s connects in %s", tried.Peer, took)
			again(ctx, part, place, tried.Peer)
		case Refused:
			part.Say("%s refuses connections (%s)", tried.Peer, took)
			part.Find("peer_refused", 0, "%s refuses connections", tried.Peer)
		default:
			part.Say("%s: %s after %s", tried.Peer, tried.Why, took)
			part.Find("peer_timeout", 0, "%s: %s after %s", tried.Peer, tried.Why, took)
		}
	}
	part.Section.Text = fmt.Sprintf("%d of %s connect", worked, report.Counted(len(some), "peer"))
	return part
}
