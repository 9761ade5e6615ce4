package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/probe"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/sockets"
)

const (
	peerPatience = time.Second
	// toldPeers are told for a comparison.
	toldPeers = 20
)

// peersSection connects once more to peers that the target talks to, and to the API server: private addresses only, a few, all at once, without data.
type peersSection struct {
	peers []sockets.Peer
	// outside is how many of the peers are at no private address.
	outside int
	api     netip.AddrPort
	tried   []probe.Tried
	done    chan struct{}
}

func (s *peersSection) begin(look *Look) {
	s.done = make(chan struct{})
	s.api = apiServer(look.Settings)
	s.peers = serversOf(look.network.mine)
	var some []netip.AddrPort
	for _, each := range s.peers {
		if !probe.IsPrivate(each.Place.Addr()) {
			s.outside++
		} else if len(some) < look.Settings.Peers && probe.MayTry(probe.Place{}, each.Place) {
			some = append(some, each.Place)
		}
	}
	if s.api.IsValid() && look.Settings.Peers > 0 && !slices.Contains(some, s.api) {
		some = append(some, s.api)
	}
	look.network.probe(func() {
		defer close(s.done)
		s.tried = probe.Try(context.Background(), probe.Place{}, some, peerPatience)
	})
}

// serversOf are the peers to which the target connects, those first that do not answer it, and then those with the most connections.
func serversOf(mine []sockets.Socket) []sockets.Peer {
	peers := slices.DeleteFunc(sockets.Peers(mine), func(peer sockets.Peer) bool {
		return peer.Place.Port() == 0 || peer.States["ESTAB"]+peer.States["SYN-SENT"] == 0
	})
	waiting := map[netip.AddrPort]int{}
	for _, each := range sockets.Unanswered(mine) {
		waiting[each.Peer] = each.Count
	}
	slices.SortStableFunc(peers, func(a, b sockets.Peer) int {
		return cmp.Or(cmp.Compare(b.States["SYN-SENT"], a.States["SYN-SENT"]), cmp.Compare(waiting[b.Place], waiting[a.Place]))
	})
	return peers
}

// apiServer is where the kubelet says that it is; not valid where that is no private address.
func apiServer(settings Settings) netip.AddrPort {
	address, err := netip.ParseAddr(settings.APIHost)
	port, wrong := strconv.ParseUint(cmp.Or(settings.APIPort, "443"), 10, 16)
	if err != nil || wrong != nil || !probe.IsPrivate(address) {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(address, uint16(port))
}

func (s *peersSection) end(look *Look) *rules.Part {
	<-s.done
	s.tellFacts(look)
	part := rules.NewPart("peers")
	text := fmt.Sprintf("%s, %d of them outside the private ranges and never tried", report.Counted(len(s.peers), "peer"), s.outside)
	if len(s.tried) == 0 {
		return part.Skip(text)
	}
	tried, counts, longest := 0, map[string]int{}, time.Duration(0)
	var refused, silent []string
	for _, each := range s.tried {
		part.Say("%s port %d: %s", each.Peer.Addr(), each.Peer.Port(), each.Result)
		if each.Peer == s.api {
			text += "; the API server: " + each.Result
			// No finding, unless the target talks to it: a pod may well be kept from it.
			if !slices.ContainsFunc(s.peers, func(peer sockets.Peer) bool { return peer.Place == s.api }) {
				continue
			}
		}
		tried++
		counts[each.Result]++
		switch each.Result {
		case probe.Reachable:
			longest = max(longest, each.Took)
		case probe.Refused:
			refused = append(refused, each.Peer.String())
		default:
			silent = append(silent, each.Peer.String())
		}
	}
	if longest > 0 {
		look.amount("latency", longest.Milliseconds(), "new connections")
	}
	// These rules have no threshold: to find is to tell.
	if len(refused) > 0 {
		part.Find("peer_refused", float64(len(refused)), "%s a new connection: %s", report.Counted(len(refused), "peer refuses", "peers refuse"), strings.Join(refused, " "))
	}
	if len(silent) > 0 {
		part.Find("peer_timeout", float64(len(silent)), "%s not answer a new connection: %s", report.Counted(len(silent), "peer does", "peers do"), strings.Join(silent, " "))
	}
	part.Section.Text = fmt.Sprintf("%s; tried %d: %d reachable, %d refused, %d without an answer", text, tried,
		counts[probe.Reachable], counts[probe.Refused], counts[probe.Timeout]+counts[probe.Unreachable])
	return part
}

func (s *peersSection) tellFacts(look *Look) {
	most := slices.Clone(s.peers)
	slices.SortStableFunc(most, func(a, b sockets.Peer) int { return cmp.Compare(b.Count, a.Count) })
	for _, each := range most[:min(len(most), toldPeers)] {
		look.amount("peer", int64(each.States["ESTAB"]+each.States["SYN-SENT"]), fmt.Sprintf("%s port %d", each.Place.Addr(), each.Place.Port()))
	}
	if len(most) > toldPeers {
		look.cut("peer")
	}
}
