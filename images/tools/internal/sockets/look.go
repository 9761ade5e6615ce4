package sockets

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"kdebug/tools/internal/rules"
)

const shownPeers = 12

// Look says what the sockets of the pod show, peer by peer.
func Look(view View) *rules.Part {
	part := rules.NewPart("sockets")
	part.Section.Text = words(Tally(view.All))
	view.Find(part)
	if total := view.Total; total.SegmentsOut > 0 {
		part.Say("since the pod began: %d segments sent, %d of them again; %d connections dropped at a full queue; %d of %d attempts to connect failed, %d connections reset",
			total.SegmentsOut, total.SegmentsAgain, total.ListenOverflows, total.Failed, total.Opened, total.Reset)
	}
	peers := Peers(view.All)
	for _, each := range peers {
		if each.Retransmits > 0 {
			part.Find("socket_loss", float64(each.Retransmits), "%s has not confirmed a packet that was sent %d times more", name(each), each.Retransmits)
		}
	}
	for _, each := range peers[:min(len(peers), shownPeers)] {
		part.Say("%s", each)
	}
	if len(peers) > shownPeers {
		part.Say("and %d more peers", len(peers)-shownPeers)
	}
	return part
}

func name(peer Peer) string {
	if peer.Place.Port() == 0 {
		return peer.Place.Addr().String()
	}
	return peer.Place.String()
}

// placeOf is "127.0.0.1 port 5432".
func placeOf(place netip.AddrPort) string {
	return fmt.Sprintf("%s port %d", place.Addr(), place.Port())
}

// String is one line for people.
func (p Peer) String() string {
	parts := []string{words(p.States)}
	if p.RTT > 0 {
		parts = append(parts, fmt.Sprintf("round trip %.1f ms", float64(p.RTT)/float64(time.Millisecond)))
	}
	if p.Unsent > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes not confirmed", p.Unsent))
	}
	if p.Retransmitted > 0 {
		parts = append(parts, fmt.Sprintf("%d segments sent again", p.Retransmitted))
	}
	return name(p) + ": " + strings.Join(parts, ", ")
}

// words is "3 ESTAB, 1 LISTEN": the most first.
func words(counts map[string]int) string {
	states := make([]string, 0, len(counts))
	for state := range counts {
		states = append(states, state)
	}
	slices.SortFunc(states, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	for index, state := range states {
		states[index] = fmt.Sprintf("%d %s", counts[state], state)
	}
	if len(states) == 0 {
		return "no sockets"
	}
	return strings.Join(states, ", ")
}

// heap says where more than half of the sockets in a state are: ", most towards 10.0.0.7 port 5432", or at a port of the pod.
func (v View) heap(state string) string {
	total := 0
	peers, ports := map[netip.AddrPort]int{}, map[uint16]int{}
	for _, each := range v.Sockets {
		if each.State == state {
			total++
			peers[each.Peer]++
			ports[each.Local.Port()]++
		}
	}
	for port, count := range ports {
		if count > 1 && 2*count > total {
			return fmt.Sprintf(", most at local port %d", port)
		}
	}
	for peer, count := range peers {
		if 2*count > total {
			return ", most towards " + placeOf(peer)
		}
	}
	return ""
}

// portsTowards is the peer to which most local ports are in use.
func (v View) portsTowards() (most netip.AddrPort, used int) {
	counts := map[netip.AddrPort]int{}
	for peer, over := range v.Towards {
		if counts[peer] = over; over > used {
			most, used = peer, over
		}
	}
	for _, each := range v.All {
		if port := int(each.Local.Port()); each.State != "LISTEN" && port >= v.Limits.FirstPort && port <= v.Limits.LastPort {
			counts[each.Peer]++
			if counts[each.Peer] > used {
				most, used = each.Peer, counts[each.Peer]
			}
		}
	}
	return most, used
}
