package sockets

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kdebug/tools/internal/rules"
)

const (
	shownPeers = 12
	// minSegments: of fewer, a share says nothing.
	minSegments = 20
)

// Look says what the sockets show, and what the counters did between two readings.
func Look(all []Socket, before, after Counters) *rules.Part {
	part := rules.NewPart("sockets")
	counts := map[string]int{}
	for _, each := range all {
		counts[each.State]++
	}
	part.Section.Text = tally(counts)
	part.Find("close_wait", float64(counts["CLOSE-WAIT"]), "%d sockets in CLOSE-WAIT%s", counts["CLOSE-WAIT"], most(all, "CLOSE-WAIT"))
	part.Find("syn_sent", float64(counts["SYN-SENT"]), "%d connections wait for an answer%s", counts["SYN-SENT"], most(all, "SYN-SENT"))
	for _, each := range all {
		if each.State == "LISTEN" {
			part.Find("accept_queue", float64(each.Waiting), "%d connections to port %d wait to be accepted, of %d that may", each.Waiting, each.Local.Port(), each.Room)
		}
	}
	FindUnanswered(part, all)
	part.Find("listen_overflow", float64(after.ListenOverflows-before.ListenOverflows), "%d connections were dropped at a full queue", after.ListenOverflows-before.ListenOverflows)
	if sent := after.SegmentsOut - before.SegmentsOut; sent >= minSegments {
		again := after.SegmentsAgain - before.SegmentsAgain
		part.Find("retransmits", float64(100*again/sent), "%d%% of %d segments were sent again", 100*again/sent, sent)
	}
	if after.SegmentsOut > 0 {
		part.Say("since the pod began: %d segments sent, %d of them again; %d connections dropped at a full queue", after.SegmentsOut, after.SegmentsAgain, after.ListenOverflows)
	}
	peers := Peers(all)
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

// String is one line for people.
func (p Peer) String() string {
	words := []string{tally(p.States)}
	if p.RTT > 0 {
		words = append(words, fmt.Sprintf("round trip %.1f ms", float64(p.RTT)/float64(time.Millisecond)))
	}
	if p.Unsent > 0 {
		words = append(words, fmt.Sprintf("%d bytes not confirmed", p.Unsent))
	}
	if p.Retransmitted > 0 {
		words = append(words, fmt.Sprintf("%d segments sent again", p.Retransmitted))
	}
	return name(p) + ": " + strings.Join(words, ", ")
}

// tally is "3 ESTAB, 1 LISTEN": the most first.
func tally(counts map[string]int) string {
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

// most names the peer with the most sockets in a state: ", 12 of them to 10.0.0.7:5432".
func most(all []Socket, state string) string {
	var those []Socket
	for _, each := range all {
		if each.State == state || each.State == "LISTEN" {
			those = append(those, each)
		}
	}
	peers := Peers(those)
	if len(peers) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them with %s", peers[0].Count, name(peers[0]))
}
