package sockets

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"kdebug/tools/internal/rules"
)

const (
	// minGap is how long after the last answer a request must have been sent to count as a new one. The kernel's clocks of a socket tick once a
	// jiffy (10 ms at most), so an answered request may have two equal ones; and what a client sends at once after an answer wants none: an
	// acknowledgement, a closed statement, a larger window, or the next turn of a long poll.
	minGap = 100 * time.Millisecond
	// maxSetup is how long after connecting the first request is sent. Who sends later, and never got a byte, does not expect one.
	maxSetup = 2 * time.Second
	// atOnce is how far apart the requests may be that a peer had when it fell silent.
	atOnce = time.Second
	// maxWait: who was answered before and waits for longer waits on purpose, as a worker of a queue to which nothing comes.
	maxWait = time.Hour
	// Fewer connections than minSilent are what a queue's worker or a subscription has. Where the peer answers others meanwhile, it takes as many as
	// a pool has.
	minSilent, minStuck = 3, 5
	shownWaits          = 3
	// minUnasked: from then on a wait is trouble although no client of the pod waits meanwhile. Long polls of the usual queues end within 20 to 50 s.
	minUnasked = time.Minute
)

// quiet are the ports of protocols in which a client's last words have no answer, or wait for news on purpose: syslog, Graphite, statsd, GELF,
// Fluentd, memcached (noreply), AMQP, STOMP, OpenWire, MQTT, beanstalkd, Gearman, and Cassandra among its own.
var quiet = map[uint16]bool{
	514: true, 601: true, 6514: true, 2003: true, 2004: true, 8125: true, 12201: true, 24224: true, 11211: true, 5671: true, 5672: true, 61613: true,
	61616: true, 1883: true, 8883: true, 11300: true, 4730: true, 7000: true, 7001: true,
}

// prompt are the ports of databases in which nobody waits for news without a first answer: PostgreSQL and its poolers, MySQL, SQL Server, Oracle,
// MongoDB, Cassandra, CockroachDB.
var prompt = map[uint16]bool{5432: true, 5433: true, 6432: true, 3306: true, 33060: true, 1433: true, 1521: true, 27017: true, 9042: true, 26257: true}

// Wait is what the pod waits for from one peer, or the clients of one port of the pod.
type Wait struct {
	// Peer is who owes the answer. Of clients that wait for this pod it is not valid, and Port is the pod's.
	Peer netip.AddrPort
	Port uint16
	// Count connections of Open wait, between Shortest and Longest.
	Count, Open       int
	Shortest, Longest time.Duration
	// Evident is false where whoever waits for news on purpose looks the same.
	Evident bool
	// total is all waits together.
	total time.Duration
	// Within is whether the peer is a listener of this pod: it may wait for another itself.
	Within bool
}

// String is "8 connections to 10.1.2.3:5432 have waited 12 s for an answer".
func (w Wait) String() string {
	who, have := "connections", "have"
	if w.Count == 1 {
		who, have = "connection", "has"
	}
	if !w.Peer.IsValid() {
		clients := "clients"
		if w.Count == 1 {
			clients = "client"
		}
		return fmt.Sprintf("%d %s of port %d %s waited %s for an answer of this pod", w.Count, clients, w.Port, have, span(w.Shortest, w.Longest))
	}
	return fmt.Sprintf("%d %s to %s %s waited %s for an answer", w.Count, who, w.Peer, have, span(w.Shortest, w.Longest))
}

// FindUnanswered says who waits for an answer: as the finding answer_missing where that can only be trouble, else as a line. It knows nothing of
// what was sent, only the kernel's clocks of each connection (last sent, last received) and its bytes.
//
// A connection waits when it sent last, and nothing came and nothing went for longer than the rule's threshold: a minGap after its last
// answer, or within maxSetup of connecting and never a byte came. It is a finding where
//   - the peer has answered nobody of this pod since those requests (atOnce before its last answer at most), at least minSilent wait,
//     and they are half of the connections to it; or
//   - minStuck connections or more never got a byte, and they are half of them: one of several pods behind an address is silent.
//
// So one long poll, one subscription, a pool of which each connection was idle since another time, and a worker of a queue (BLPOP) among others
// are no finding. LISTEN, SUBSCRIBE and watches are answered when they begin. Not seen: a request that was sent within minGap of an answer
// (the second statement of a transaction), the first request of a TLS connection (tickets come after it), and any in HTTP/2 that pings.
// Three workers or more that took a job at the same time, have no other connection to their queue, and wait for the next one still look like trouble.
//
// Who polls for news on purpose looks like a pool that hangs, but for its own clients: so with no client that waits, or has given up, a wait for
// what is no database is a finding only from minUnasked on.
func FindUnanswered(part *rules.Part, known []Socket) {
	shown, waits := 0, Unanswered(known)
	// Of a client within the pod the wait is seen at its own end.
	isAsked := isKeptWaiting(known) || slices.ContainsFunc(waits, func(wait Wait) bool { return !wait.Peer.IsValid() || wait.Within })
	for _, each := range waits {
		if part.Doubt == "" {
			part.Doubt = each.String()
		}
		switch {
		case !each.Peer.IsValid():
			part.Say("%s", each)
		case !each.Evident || !isAsked && each.Longest < minUnasked && !prompt[each.Peer.Port()]:
			part.Say("%s; whoever waits for news on purpose looks the same", each)
		case each.Within && shown > 0:
			// One part of the pod waits for another, which waits itself.
			part.Say("%s", each)
		case shown < shownWaits:
			shown++
			part.Find("answer_missing", each.Longest.Seconds(), "%s", each)
		default:
			part.Say("%s", each)
		}
	}
}

// isKeptWaiting is whether somebody waits to be let in, or has given up and is not yet let go.
func isKeptWaiting(all []Socket) bool {
	listening := Listening(all)
	return slices.ContainsFunc(all, func(each Socket) bool {
		return each.State == "LISTEN" && each.Waiting > 0 || each.State == "CLOSE-WAIT" && listening[each.Local.Port()]
	})
}

// Unanswered are the waits among the sockets: the evident ones first, those for other pods before those within this one, then those with the most
// connections, then the youngest: who is asked within a request is asked after it. Clients of the pod's own ports come last.
func Unanswered(all []Socket) []Wait {
	least := time.Duration(rules.Threshold("answer_missing") * float64(time.Second))
	listening := Listening(all)
	peers, ports := map[netip.AddrPort][]Socket{}, map[uint16][]Socket{}
	for _, each := range all {
		switch {
		case each.State != "ESTAB":
		case listening[each.Local.Port()]:
			ports[each.Local.Port()] = append(ports[each.Local.Port()], each)
		default:
			peers[each.Peer] = append(peers[each.Peer], each)
		}
	}
	var waits []Wait
	for peer, those := range peers {
		if wait := waitOf(those, least); wait.Count > 0 {
			wait.Peer, wait.Within = peer, listening[peer.Port()] && those[0].Local.Addr() == peer.Addr()
			wait.Evident = wait.Evident && !quiet[peer.Port()]
			waits = append(waits, wait)
		}
	}
	for port, those := range ports {
		wait := Wait{Port: port, Open: len(those)}
		for _, each := range those {
			if each.owes(least) {
				wait.add(each.LastReceived)
			}
		}
		if wait.Count > 0 {
			waits = append(waits, wait)
		}
	}
	slices.SortFunc(waits, compareWaits)
	return waits
}

// waitOf looks at the connections to one peer.
func waitOf(those []Socket, least time.Duration) Wait {
	// The age of the newest answer to anybody.
	answered := time.Duration(-1)
	for _, each := range those {
		if each.BytesReceived > 0 && (answered < 0 || each.LastReceived < answered) {
			answered = each.LastReceived
		}
	}
	wait := Wait{Open: len(those)}
	silent, never := 0, 0
	for _, each := range those {
		if !each.waits(least) {
			continue
		}
		wait.add(each.LastSent)
		isNew := each.BytesReceived == 0
		if isNew {
			never++
		}
		if (isNew || each.LastSent <= maxWait) && (answered < 0 || answered > least && each.LastSent <= answered+atOnce) {
			silent++
		}
	}
	wait.Evident = silent >= minSilent && 2*silent >= wait.Open || never >= minStuck && 2*never >= wait.Open
	return wait
}

// waits is whether a connection that this pod made has sent last, longer ago than least.
func (s Socket) waits(least time.Duration) bool {
	// What was sent again has another cause, and another clock; what is not read is an answer.
	if s.LastSent <= least || s.BytesSent == 0 || s.Retransmits > 0 || s.Waiting > 0 {
		return false
	}
	if s.BytesReceived == 0 {
		return s.LastReceived-s.LastSent <= maxSetup
	}
	return s.LastReceived-s.LastSent > minGap
}

// owes is whether a connection that a client made has received last, longer ago than least.
func (s Socket) owes(least time.Duration) bool {
	if s.LastReceived <= least || s.LastReceived > maxWait || s.BytesReceived == 0 || s.Unsent > 0 {
		return false
	}
	return s.BytesSent == 0 || s.LastSent-s.LastReceived > minGap
}

func (w *Wait) add(age time.Duration) {
	if w.Count == 0 || age < w.Shortest {
		w.Shortest = age
	}
	w.Longest = max(w.Longest, age)
	w.total += age
	w.Count++
}

func compareWaits(a, b Wait) int {
	rank := func(wait Wait) int {
		switch {
		case wait.Evident && !wait.Within:
			return 0
		case wait.Evident:
			return 1
		case wait.Peer.IsValid():
			return 2
		}
		return 3
	}
	return cmp.Or(rank(a)-rank(b), b.Count-a.Count, cmp.Compare(a.total, b.total), a.Peer.Compare(b.Peer), int(a.Port)-int(b.Port))
}

// span is "12 s" or "5 to 40 s".
func span(shortest, longest time.Duration) string {
	unit, word := time.Second, "s"
	if longest >= 2*time.Minute {
		unit, word = time.Minute, "minutes"
	}
	if from, to := shortest/unit, longest/unit; to-from > 1 {
		return fmt.Sprintf("%d to %d %s", from, to, word)
	}
	return fmt.Sprintf("%d %s", longest/unit, word)
}
