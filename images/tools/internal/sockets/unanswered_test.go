package sockets

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/rules"
)

const database = "10.1.2.3:5432"

// client is a connection of the pod to a peer; the clocks are ages in seconds.
func client(peer string, sent, received float64, bytesSent, bytesReceived uint64) Socket {
	return Socket{
		State: "ESTAB", Local: netip.MustParseAddrPort("10.0.0.1:50001"), Peer: netip.MustParseAddrPort(peer), LastSent: seconds(sent), LastReceived: seconds(received),
		BytesSent: bytesSent, BytesReceived: bytesReceived,
	}
}

func seconds(number float64) time.Duration { return time.Duration(number * float64(time.Second)) }

func times(number int, one func(index int) Socket) []Socket {
	all := make([]Socket, number)
	for index := range all {
		all[index] = one(index)
	}
	return all
}

func TestConnectionsToASilentPeerAreFound(t *testing.T) {
	never := times(8, func(int) Socket { return client(database, 12, 12.004, 200, 0) })
	for name, each := range map[string]struct {
		known []Socket
		text  string
	}{
		"a request at once after connecting, and never a byte": {never, "8 connections to 10.1.2.3:5432 have waited 12 s for an answer"},
		"answered before, and then no more": {
			times(8, func(index int) Socket { return client(database, 12, 13+float64(index), 900, 700) }), "8 connections to 10.1.2.3:5432 have waited 12 s for an answer",
		},
		"at different times": {
			times(4, func(index int) Socket { return client(database, 7+10*float64(index), 60, 900, 700) }), "4 connections to 10.1.2.3:5432 have waited 7 to 37 s for an answer",
		},
		"one of the pods behind an address is silent": {
			append(times(3, func(int) Socket { return client(database, 0.1, 0.09, 900, 900) }), never...), "8 connections to 10.1.2.3:5432 have waited 12 s for an answer",
		},
		"for a long time": {times(8, func(int) Socket { return client(database, 4000, 4000, 200, 0) }), "8 connections to 10.1.2.3:5432 have waited 66 minutes for an answer"},
		"some of the pool were not used": {
			append(times(5, func(int) Socket { return client(database, 90, 90, 900, 900) }), never...), "8 connections to 10.1.2.3:5432 have waited 12 s for an answer",
		},
	} {
		part := rules.NewPart("sockets")
		FindUnanswered(part, each.known)
		if len(part.Findings) != 1 || part.Findings[0].Code != "answer_missing" || part.Findings[0].Text != each.text || part.Findings[0].Section != "sockets" {
			t.Errorf("%s: %+v %q", name, part.Findings, part.Lines)
		}
	}
}

func TestWaitsOfHealthyProgramsAreNoFinding(t *testing.T) {
	for name, known := range map[string][]Socket{
		"idle connections that were answered, within one tick of the clock": times(8, func(int) Socket { return client(database, 300, 300, 900, 900) }),
		"the same, a tick apart":                  times(8, func(int) Socket { return client(database, 300, 300.01, 900, 900) }),
		"answered after a while":                  times(8, func(int) Socket { return client(database, 300, 299.8, 900, 900) }),
		"opened and not used":                     times(8, func(int) Socket { return client(database, 300, 300, 0, 0) }),
		"requests that were sent just now":        times(8, func(int) Socket { return client(database, 4.9, 60, 900, 900) }),
		"who sends all the time and gets nothing": times(8, func(int) Socket { return client("10.1.2.3:9000", 0.3, 900, 90000, 0) }),
		"who sends now and then and gets nothing": times(8, func(index int) Socket { return client("10.1.2.3:9000", 6+float64(index), 900, 90000, 0) }),
		"logs, of which the first were just sent": times(8, func(int) Socket { return client("10.1.2.3:6514", 12, 12, 200, 0) }),
		"a pool of which each was idle since another": times(8, func(index int) Socket {
			return client(database, 20*float64(index+1), 20*float64(index+1)+0.3, 900, 900)
		}),
		"one long poll": {client(database, 40, 90, 900, 900)},
		"one long poll while others are answered":       append(times(3, func(int) Socket { return client(database, 0.2, 0.1, 900, 900) }), client(database, 40, 40, 900, 0)),
		"workers of a queue, while others are answered": append(times(4, func(int) Socket { return client("10.1.2.3:6379", 40, 42, 900, 900) }), client("10.1.2.3:6379", 1, 1, 900, 900)),
		"workers of a queue that asked again at once":   times(8, func(index int) Socket { return client("10.1.2.3:6379", 12, 12.01, 900, 900) }),
		"who waits for longer than any client would":    times(8, func(int) Socket { return client("10.1.2.3:6379", 4000, 4002, 900, 900) }),
		"a few of many": append(times(9, func(int) Socket { return client(database, 60, 60, 900, 900) }), times(3, func(int) Socket { return client(database, 12, 90, 900, 900) })...),
		"messages that were taken and confirmed a second": times(8, func(int) Socket { return client("10.1.2.3:5672", 12, 14, 900, 900) }),
		"who has not read the answer": times(8, func(int) Socket {
			socket := client(database, 12, 90, 900, 900)
			socket.Waiting = 7
			return socket
		}),
		"packets that got lost, which have a finding of their own": times(8, func(int) Socket {
			socket := client(database, 12, 90, 900, 900)
			socket.Retransmits = 4
			return socket
		}),
	} {
		part := rules.NewPart("sockets")
		FindUnanswered(part, known)
		if len(part.Findings) != 0 {
			t.Errorf("%s: %+v", name, part.Findings)
		}
	}
}

func TestAWaitThatMayBeWantedIsALine(t *testing.T) {
	part := rules.NewPart("sockets")
	FindUnanswered(part, []Socket{client(database, 12, 12, 900, 0)})
	if len(part.Lines) != 1 || part.Lines[0] != "1 connection to 10.1.2.3:5432 has waited 12 s for an answer; whoever waits for news on purpose looks the same" {
		t.Errorf("%q", part.Lines)
	}
}

func TestClientsOfThePodsOwnPortsWaitForThePod(t *testing.T) {
	known := []Socket{{State: "LISTEN", Local: netip.MustParseAddrPort("0.0.0.0:8080")}}
	for index := range 8 {
		each := client(fmt.Sprintf("10.0.0.9:%d", 40000+index), 30, 9, 0, 200)
		each.Local = netip.MustParseAddrPort("10.0.0.1:8080")
		if index == 7 {
			// Answered.
			each.LastSent, each.BytesSent = each.LastReceived, 300
		}
		known = append(known, each)
	}
	part := rules.NewPart("sockets")
	FindUnanswered(part, known)
	if len(part.Findings) != 0 || len(part.Lines) != 1 || part.Lines[0] != "7 clients of port 8080 have waited 9 s for an answer of this pod" || part.Doubt != part.Lines[0] {
		t.Errorf("%+v %q", part.Findings, part.Lines)
	}
}

func TestTheWorstThreePeersAreFindings(t *testing.T) {
	var known []Socket
	for peer := range 5 {
		known = append(known, times(3+peer, func(int) Socket { return client(fmt.Sprintf("10.1.2.%d:5432", peer), 12, 12, 200, 0) })...)
	}
	part := rules.NewPart("sockets")
	FindUnanswered(part, known)
	if len(part.Findings) != 3 || !strings.HasPrefix(part.Findings[0].Text, "7 connections to 10.1.2.4:5432") || len(part.Lines) != 2 {
		t.Errorf("%+v %q", part.Findings, part.Lines)
	}
}

// The kernel's own clocks: of a peer that never answers, and of one that does at once.
func TestTheKernelTellsASilentPeerFromOneThatAnswered(t *testing.T) {
	accept := func(address string, answer bool) netip.AddrPort {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		for range 3 {
			here, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			there, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { here.Close(); there.Close() })
			request := make([]byte, 4)
			if _, err = here.Write([]byte("ping")); err == nil {
				_, err = io.ReadFull(there, request)
			}
			if answer && err == nil {
				if _, err = there.Write([]byte("pong")); err == nil {
					_, err = io.ReadFull(here, request)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return netip.MustParseAddrPort(listener.Addr().String())
	}
	silent, answers := accept("127.83.71.6:0", false), accept("127.83.71.7:0", true)
	time.Sleep(250 * time.Millisecond)
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	of := func(peer netip.AddrPort) (those []Socket) {
		for _, each := range all {
			if each.Peer == peer {
				those = append(those, each)
			}
		}
		return those
	}
	if wait := waitOf(of(silent), 200*time.Millisecond); wait.Count != 3 || !wait.Evident || wait.Longest < 200*time.Millisecond || of(silent)[0].Inode == 0 {
		t.Errorf("%+v %+v", wait, of(silent))
	}
	if wait := waitOf(of(answers), 200*time.Millisecond); wait.Count != 0 || len(of(answers)) != 3 {
		t.Errorf("%+v %+v", wait, of(answers))
	}
}

// A proxy's clients in the same pod wait for the proxy, and the proxy for its upstream.
func TestWhoIsAskedWithinARequestComesFirst(t *testing.T) {
	known := []Socket{
		{State: "LISTEN", Local: netip.MustParseAddrPort("0.0.0.0:8080")}, {State: "LISTEN", Local: netip.MustParseAddrPort("0.0.0.0:9999")},
	}
	add := func(peer string, sent float64) {
		for range 5 {
			each := client(peer, sent, sent, 200, 0)
			if each.Peer.Addr().IsLoopback() {
				each.Local = netip.MustParseAddrPort("127.0.0.1:50001")
			}
			known = append(known, each)
		}
	}
	add("127.0.0.1:8080", 12.02)
	add("127.0.0.1:9999", 12)
	if waits := Unanswered(known); len(waits) != 2 || waits[0].Peer.Port() != 9999 {
		t.Errorf("%+v", waits)
	}
	if part := rules.NewPart("sockets"); true {
		if FindUnanswered(part, known); len(part.Findings) != 1 || !strings.Contains(part.Findings[0].Text, ":9999") || len(part.Lines) != 1 {
			t.Errorf("%+v", part)
		}
	}
	add(database, 11)
	if waits := Unanswered(known); len(waits) != 3 || waits[0].Peer.String() != database {
		t.Errorf("%+v", waits)
	}
}

// Consumers that ask a queue for news and wait for up to 20 s for them, each time over a new connection, are well.
func TestWhoPollsOnPurposeIsNoFindingWithoutAClientThatWaits(t *testing.T) {
	const queue = "10.1.2.9:9324"
	polling := times(6, func(int) Socket { return client(queue, 15, 15.004, 200, 0) })
	listener := Socket{State: "LISTEN", Local: netip.MustParseAddrPort("0.0.0.0:8080")}
	asks := Socket{State: "ESTAB", Local: netip.MustParseAddrPort("10.1.2.4:8080"), BytesReceived: 80, LastReceived: 14 * time.Second, LastSent: 14 * time.Second}
	gaveUp := Socket{State: "CLOSE-WAIT", Local: netip.MustParseAddrPort("10.1.2.4:8080")}
	full := listener
	full.Waiting = 1
	for name, each := range map[string]struct {
		more    []Socket
		isFound bool
	}{
		"alone":                         {nil, false},
		"beside a listener":             {[]Socket{listener}, false},
		"while a client waits":          {[]Socket{listener, asks}, true},
		"after a client has given up":   {[]Socket{listener, gaveUp}, true},
		"while a client is not let in":  {[]Socket{full}, true},
		"for longer than any queue has": {times(6, func(int) Socket { return client(queue, 61, 61.004, 200, 0) }), true},
	} {
		part := rules.NewPart("sockets")
		FindUnanswered(part, append(append([]Socket{}, polling...), each.more...))
		if found := len(part.Findings) == 1; found != each.isFound {
			t.Errorf("%s: %+v %v", name, part.Findings, part.Lines)
		}
		if !strings.Contains(part.Doubt, "connections to "+queue+" have waited") {
			t.Errorf("%s: %s", name, part.Doubt)
		}
	}
}
