package diagnose

import (
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/sockets"
)

// networkLook is a look whose target has these sockets.
func networkLook(settings Settings, mine ...sockets.Socket) *Look {
	return &Look{Settings: settings, network: &network{mine: mine, pod: sockets.Pod{Live: mine}, calm: make(chan calm, 1)}}
}

func codesIn(part *rules.Part) string {
	var codes []string
	for _, each := range part.Findings {
		codes = append(codes, each.Code)
	}
	return strings.Join(codes, " ")
}

func towards(peer string) sockets.Socket {
	return sockets.Socket{State: "ESTAB", Local: netip.MustParseAddrPort("127.0.0.1:50001"), Peer: netip.MustParseAddrPort(peer)}
}

func TestPeersAreTriedOnceMoreAndTheAPIServerIsToldAsWhatItIs(t *testing.T) {
	listener, err := net.Listen("tcp", "127.83.72.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	good, closed := listener.Addr().String(), "127.83.72.2:1"
	api := Settings{Peers: 5, APIHost: "127.83.72.2", APIPort: "1"}
	for _, each := range []struct {
		name     string
		settings Settings
		peers    []string
		found    string
		says     string
	}{
		{"all answer", Settings{Peers: 5}, []string{good}, "", "1 peer, 0 of them outside the private ranges and never tried; tried 1: 1 reachable, 0 refused, 0 without an answer"},
		{"one refuses", Settings{Peers: 5}, []string{good, closed}, "peer_refused", "tried 2: 1 reachable, 1 refused"},
		{"the API server refuses a pod that does not use it", api, []string{good}, "", "the API server: refused; tried 1: 1 reachable, 0 refused"},
		{"the API server refuses a pod that uses it", api, []string{good, closed}, "peer_refused", "the API server: refused"},
		{"none is tried", Settings{}, []string{good}, "", "1 peer"},
		{"public ones are not", Settings{Peers: 5}, []string{"192.0.2.1:443"}, "", "1 peer, 1 of them outside"},
	} {
		var mine []sockets.Socket
		for _, peer := range each.peers {
			mine = append(mine, towards(peer))
		}
		look, section := networkLook(each.settings, mine...), &peersSection{}
		section.begin(look)
		if part := section.end(look); codesIn(part) != each.found || !strings.Contains(part.Section.Text, each.says) {
			t.Errorf("%s: %q %q", each.name, codesIn(part), part.Section.Text)
		}
	}
}

func TestThoseThatDoNotAnswerAreTriedFirst(t *testing.T) {
	silent, waits := towards("10.0.0.3:80"), towards("10.0.0.2:80")
	silent.State = "SYN-SENT"
	waits.BytesSent, waits.LastSent, waits.LastReceived = 100, 9*time.Second, 9*time.Second
	peers := serversOf([]sockets.Socket{towards("10.0.0.1:80"), towards("10.0.0.1:80"), waits, silent})
	if len(peers) != 3 || peers[0].Place.String() != "10.0.0.3:80" || peers[1].Place.String() != "10.0.0.2:80" {
		t.Errorf("%+v", peers)
	}
}

func TestOnlyEndpointsWithinTheClusterHaveTheirCertificatesLookedAt(t *testing.T) {
	for text, want := range map[string]bool{
		"web:443": true, "web.shop.svc:8443": true, "10.0.0.5:8443": true, "[fd00::5]:8443": true, "a.b.cluster.local:1": true,
		"example.com:443": false, "1.1.1.1:443": false, "web.example.com:443": false, "-x:1": false, "$(id):1": false, "*": false, "web:0": false,
		"web:70000": false, ":443": false, "169.254.169.254:443": false, "10.0.0.5:10250": false,
	} {
		if _, ok := insideCluster(text); ok != want {
			t.Errorf("%s: %t", text, ok)
		}
	}
}

// What this look does to the pod's counters is none of the pod's doing: an attempt that is refused while it probes is no finding.
func TestTheProbesOwnAttemptsAreNotThePods(t *testing.T) {
	look := networkLook(Settings{Peers: 5}, towards("127.83.72.3:1"), towards("127.83.72.3:2"), towards("127.83.72.3:3"), towards("127.83.72.3:4"))
	first, peers, last := &socketsSection{before: sockets.Count()}, &peersSection{}, &tlsSection{}
	peers.begin(look)
	last.begin(look)
	if part := peers.end(look); codesIn(part) != "peer_refused" {
		t.Error(codesIn(part))
	}
	calm := <-look.network.calm
	look.network.calm <- calm
	if calm.counters.Failed < first.before.Failed+4 {
		t.Errorf("%+v %+v", first.before, calm)
	}
	if part := first.end(look); strings.Contains(codesIn(part), "connects_refused") && sockets.Count().Since(calm.counters).Failed == 0 {
		t.Error(codesIn(part))
	}
}

func TestAConnectionThatWaitsIsFoundAmongTheTargetsSockets(t *testing.T) {
	var mine []sockets.Socket
	for range 8 {
		each := towards("10.1.2.3:5432")
		each.BytesSent, each.LastSent, each.LastReceived = 100, 12*time.Second, 12*time.Second
		mine = append(mine, each)
	}
	look := networkLook(Settings{}, mine...)
	part := (&socketsSection{before: sockets.Count()}).end(look)
	if len(part.Findings) != 1 || part.Findings[0].Text != "8 connections to 10.1.2.3:5432 have waited 12 s for an answer" {
		t.Errorf("%+v", part.Findings)
	}
	if !strings.HasPrefix(part.Section.Text, "8 of the target: 8 established, 0 listening, 0 CLOSE_WAIT, 0 SYN_SENT; 0 TIME_WAIT in the pod") {
		t.Error(part.Section.Text)
	}
}
