package sockets

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"kdebug/tools/internal/rules"
)

func codesOf(view View) string {
	part := rules.NewPart("sockets")
	view.Find(part)
	var codes []string
	for _, each := range part.Findings {
		codes = append(codes, each.Code)
	}
	return strings.Join(codes, " ")
}

func TestAttemptsThatFailAreFoundUnlessTheyAreAWayToSucceed(t *testing.T) {
	for _, each := range []struct {
		name   string
		sample Counters
		found  string
	}{
		{"a server that nobody listens for", Counters{Opened: 30, Failed: 30}, "connects_refused"},
		{"one of several servers", Counters{Opened: 300, Failed: 12}, "connects_refused"},
		{"two, as probes do", Counters{Opened: 2, Failed: 2}, ""},
		{"localhost, first by IPv6 and then by IPv4", Counters{Opened: 200, Failed: 100, SixOut: 200}, ""},
		{"IPv6 only, and nobody listens", Counters{Opened: 100, Failed: 100, SixOut: 200}, "connects_refused"},
		{"connections that are cut", Counters{Reset: 10}, "connections_reset"},
		{"a few that are cut", Counters{Reset: 9}, ""},
	} {
		if found := codesOf(View{Sample: each.sample}); found != each.found {
			t.Errorf("%s: %q", each.name, found)
		}
	}
}

func TestCountersOfASampleAreADifference(t *testing.T) {
	after := Counters{SegmentsOut: 10, Opened: 7, Failed: 3}
	if got := after.Since(Counters{SegmentsOut: 4, Opened: 2, Failed: 5}); got.SegmentsOut != 6 || got.Opened != 5 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
}

func TestAQueueThatIsFullIsFoundAlsoWhereItDroppedLongAgo(t *testing.T) {
	listener := func(waiting, room uint32) []Socket {
		return []Socket{{State: "LISTEN", Local: netip.MustParseAddrPort("0.0.0.0:8080"), Waiting: waiting, Room: room}}
	}
	kept := append(listener(10, 0), Socket{State: "SYN-SENT", Local: netip.MustParseAddrPort("10.0.0.1:50000"), Peer: netip.MustParseAddrPort("10.0.0.1:8080")})
	long := Counters{ListenOverflows: 7}
	for _, each := range []struct {
		name  string
		view  View
		found string
	}{
		{"one waits, and there is room", View{Sockets: listener(1, 128), Total: long}, ""},
		{"a small queue is full", View{Sockets: listener(10, 9), Total: long}, "listen_overflow"},
		{"a new connection of the pod itself gets no answer", View{Sockets: kept, All: kept, Total: long}, "listen_overflow"},
		{"many wait", View{Sockets: listener(17, 128), Total: long}, "accept_queue"},
		{"dropped within the sample, by another of the pod", View{Sockets: listener(0, 9), Sample: long}, ""},
		{"dropped within the sample", View{Sockets: listener(0, 9), Sample: long, Whole: true}, "listen_overflow"},
	} {
		if found := codesOf(each.view); found != each.found {
			t.Errorf("%s: %q", each.name, found)
		}
	}
	part := rules.NewPart("sockets")
	View{Sockets: listener(10, 9), Total: long}.Find(part)
	if text := part.Findings[0].Text; text != "a listen queue is full: 10 connections wait at port 8080, 7 were dropped" {
		t.Error(text)
	}
}

func TestTheKernelsLimitsAreHeldAgainstWhatIsInUse(t *testing.T) {
	nine := times(9, func(index int) Socket {
		each := client("127.0.0.1:50000", 1, 1, 1, 1)
		each.Local = netip.MustParseAddrPort(fmt.Sprintf("127.0.0.1:%d", 40000+index))
		return each
	})
	part := rules.NewPart("sockets")
	View{All: nine, Limits: Limits{FirstPort: 40000, LastPort: 40009, Tracked: 900, TrackedMost: 1000}}.Find(part)
	if len(part.Findings) != 2 || part.Findings[0].Text != "90% of the local ports towards 127.0.0.1 port 50000 are in use (9 of 10)" || part.Findings[1].Code != "conntrack_near_limit" {
		t.Errorf("%+v", part.Findings)
	}
	if found := codesOf(View{Sample: Counters{SegmentsOut: 2000, SegmentsAgain: 160}}); found != "retransmits" {
		t.Error(found)
	}
	if found := codesOf(View{Sample: Counters{SegmentsOut: 99, SegmentsAgain: 50}}); found != "" {
		t.Error(found)
	}
}

func TestAHeapOfUnclosedSocketsIsTold(t *testing.T) {
	closed := func(local, peer string) Socket {
		return Socket{State: "CLOSE-WAIT", Local: netip.MustParseAddrPort(local), Peer: netip.MustParseAddrPort(peer)}
	}
	for want, one := range map[string]func(index int) Socket{
		", most towards 10.0.0.7 port 5432": func(index int) Socket { return closed(fmt.Sprintf("10.0.0.1:%d", 40000+index), "10.0.0.7:5432") },
		", most at local port 8080":         func(index int) Socket { return closed("10.0.0.1:8080", fmt.Sprintf("10.0.0.9:%d", 40000+index)) },
		"": func(index int) Socket {
			return closed(fmt.Sprintf("10.0.0.1:%d", 40000+index), fmt.Sprintf("10.0.0.7:%d", index+1))
		},
	} {
		if got := (View{Sockets: times(10, one)}).heap("CLOSE-WAIT"); got != want {
			t.Errorf("%q", got)
		}
	}
}

func TestWhoRefusesIsNamed(t *testing.T) {
	peer := netip.MustParseAddrPort("10.0.0.7:8080")
	other, six := netip.MustParseAddrPort("10.0.0.8:80"), netip.MustParseAddrPort("[2001:db8:ffff:ffff:ffff:ffff:ffff:ffff]:65535")
	for name, each := range map[string]struct {
		failed map[netip.AddrPort]int
		want   string
	}{
		"one peer, counted a moment later": {map[netip.AddrPort]int{peer: 16, other: 1}, "15 attempts to connect to 10.0.0.7:8080 were refused or led nowhere within the sample, of 30 of the pod"},
		"others as well":                   {map[netip.AddrPort]int{peer: 12, other: 3}, "12 attempts to connect to 10.0.0.7:8080 and 3 to others were refused or led nowhere within the sample, of 30 of the pod"},
		"a peer with a long name":          {map[netip.AddrPort]int{six: 15}, "15 attempts to connect to [2001:db8:ffff:ffff:ffff:ffff:ffff:ffff]:65535 were refused or led nowhere within the sample, of 30 of the pod"},
		"nobody is named":                  {nil, "15 attempts to connect were refused or led nowhere within the sample, of 30 of the pod"},
	} {
		part := rules.NewPart("sockets")
		View{Sample: Counters{Opened: 30, Failed: 15}, Failed: each.failed}.Find(part)
		if len(part.Findings) != 1 || part.Findings[0].Text != each.want {
			t.Errorf("%s: %+v", name, part.Findings)
		}
		// The first line of an answer, and what the shortest termination message keeps of a finding (package report).
		if line := each.want[:min(100, len(each.want))]; len(each.failed) > 0 && !strings.Contains(line[:60], "10.0.0.7:8080") && !strings.Contains(line, "]:65535") {
			t.Errorf("%s: cut to %q", name, line)
		}
	}
	one := View{Sample: Counters{Opened: 3, Failed: 1}, Failed: map[netip.AddrPort]int{peer: 1}}
	if got := one.Refused(); got != "1 attempt to connect to 10.0.0.7:8080 was refused or led nowhere within the sample, of 3 of the pod" {
		t.Error(got)
	}
}

func TestAProgramThatListensOnTheLoopbackOnlyIsADoubt(t *testing.T) {
	listens := func(at string) Socket { return Socket{State: "LISTEN", Local: netip.MustParseAddrPort(at)} }
	for name, each := range map[string]struct {
		known []Socket
		want  string
	}{
		"one port":                       {[]Socket{listens("127.0.0.1:8080")}, "it listens at 127.0.0.1:8080 only, where no Service, probe or other pod arrives"},
		"IPv6":                           {[]Socket{listens("[::1]:8080")}, "it listens at [::1]:8080 only, where no Service, probe or other pod arrives"},
		"a sidecar that passes it on":    {[]Socket{listens("127.0.0.1:8080"), listens("0.0.0.0:15006")}, ""},
		"a program that listens nowhere": {nil, ""},
		"and nothing of its own":         {[]Socket{{State: "ESTAB", Local: netip.MustParseAddrPort("127.0.0.1:8080")}}, ""},
	} {
		part := rules.NewPart("sockets")
		if (View{Sockets: each.known, All: each.known}).Find(part); part.Doubt != each.want || len(part.Findings) > 0 {
			t.Errorf("%s: %q %+v", name, part.Doubt, part.Findings)
		}
	}
}

func TestTheLongestQueueOfAListenerIsTold(t *testing.T) {
	at := func(port string, waiting uint32) Socket {
		return Socket{State: "LISTEN", Local: netip.MustParseAddrPort("0.0.0.0:" + port), Waiting: waiting}
	}
	if got := Queued([]Socket{at("8080", 129), at("8081", 140)}); got != "140 connections wait to be accepted at port 8081" {
		t.Error(got)
	}
	if got := Queued([]Socket{at("8080", 1)}); got != "" {
		t.Error(got)
	}
}
