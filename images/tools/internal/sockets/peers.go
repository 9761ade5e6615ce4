package sockets

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// Peer sums up what the pod has with one peer.
type Peer struct {
	Place  netip.AddrPort
	Count  int
	States map[string]int
	// RTT is the longest.
	RTT                        time.Duration
	Unsent                     uint64
	Retransmits, Retransmitted uint32
}

// Listening are the local ports at which somebody of the pod listens.
func Listening(all []Socket) map[uint16]bool {
	listening := map[uint16]bool{}
	for _, each := range all {
		if each.State == "LISTEN" {
			listening[each.Local.Port()] = true
		}
	}
	return listening
}

// Peers groups connections by the other side: by its address and port, or, where clients connect to a port on which this pod listens, by
// address alone (port 0). Listeners are not in it. Most connections first.
func Peers(all []Socket) []Peer {
	listening := Listening(all)
	byPlace := map[netip.AddrPort]*Peer{}
	var order []*Peer
	for _, each := range all {
		if each.State == "LISTEN" || !each.Peer.IsValid() || each.Peer.Port() == 0 {
			continue
		}
		key := each.Peer
		if listening[each.Local.Port()] {
			key = netip.AddrPortFrom(each.Peer.Addr(), 0)
		}
		peer := byPlace[key]
		if peer == nil {
			peer = &Peer{Place: key, States: map[string]int{}}
			byPlace[key] = peer
			order = append(order, peer)
		}
		peer.Count++
		peer.States[each.State]++
		peer.RTT = max(peer.RTT, each.RTT)
		peer.Unsent += uint64(each.Unsent)
		peer.Retransmits = max(peer.Retransmits, each.Retransmits)
		peer.Retransmitted += each.Retransmitted
	}
	peers := make([]Peer, len(order))
	for index, each := range order {
		peers[index] = *each
	}
	slices.SortStableFunc(peers, func(a, b Peer) int { return b.Count - a.Count })
	return peers
}

// Troubled are the servers from which connections wait for an answer, to which new ones get none, or packets were sent again, the worst first.
func Troubled(all []Socket) []netip.AddrPort {
	waiting := map[netip.AddrPort]int{}
	for _, each := range Unanswered(all) {
		if each.Peer.IsValid() {
			waiting[each.Peer] = each.Count
		}
	}
	peers := slices.DeleteFunc(Peers(all), func(peer Peer) bool {
		return peer.Place.Port() == 0 || peer.States["SYN-SENT"] == 0 && peer.Retransmitted == 0 && waiting[peer.Place] == 0
	})
	slices.SortStableFunc(peers, func(a, b Peer) int {
		return cmp.Or(b.States["SYN-SENT"]-a.States["SYN-SENT"], waiting[b.Place]-waiting[a.Place], int(b.Retransmitted)-int(a.Retransmitted))
	})
	places := make([]netip.AddrPort, len(peers))
	for index, each := range peers {
		places[index] = each.Place
	}
	return places
}
