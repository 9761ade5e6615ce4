package sockets

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A listener whose queue fills, and a connection to it, as the kernel tells them.
func TestAllSeesAListenerAndWhatWaitsThere(t *testing.T) {
	// An address of its own: connections of whoever had the same port of 127.0.0.1 before may still be in TIME-WAIT.
	listener, err := net.Listen("tcp", "127.83.71.5:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	place := netip.MustParseAddrPort(listener.Addr().String())
	for range 3 {
		conn, err := net.Dial("tcp", place.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	var listeners, clients int
	for _, each := range all {
		switch {
		case each.State == "LISTEN" && each.Local == place:
			listeners++
			if each.Waiting != 3 || each.Room == 0 {
				t.Errorf("%+v", each)
			}
		case each.Peer == place:
			clients++
			if each.State != "ESTAB" || each.RTT == 0 {
				t.Errorf("%+v", each)
			}
		}
	}
	if listeners != 1 || clients != 3 {
		t.Errorf("%d listeners, %d clients", listeners, clients)
	}
}

func TestPeersAreGroupedByTheServersSide(t *testing.T) {
	at := netip.MustParseAddrPort
	all := []Socket{
		{State: "LISTEN", Local: at("0.0.0.0:8080")},
		{State: "ESTAB", Local: at("10.0.0.1:8080"), Peer: at("10.0.0.9:40001")},
		{State: "CLOSE-WAIT", Local: at("10.0.0.1:8080"), Peer: at("10.0.0.9:40002"), Retransmitted: 1},
		{State: "SYN-SENT", Local: at("10.0.0.1:50001"), Peer: at("10.0.0.7:5432"), Retransmits: 3, Retransmitted: 3},
		{State: "SYN-SENT", Local: at("10.0.0.1:50002"), Peer: at("10.0.0.7:5432"), Retransmits: 2, Retransmitted: 2},
		{State: "ESTAB", Local: at("10.0.0.1:50003"), Peer: at("10.0.0.7:5432"), Unsent: 7},
	}
	peers := Peers(all)
	if len(peers) != 2 {
		t.Fatalf("%+v", peers)
	}
	if first := peers[0]; first.Place != at("10.0.0.7:5432") || first.Count != 3 || first.States["SYN-SENT"] != 2 || first.Retransmits != 3 || first.Retransmitted != 5 || first.Unsent != 7 {
		t.Errorf("%+v", first)
	}
	if second := peers[1]; second.Place.String() != "10.0.0.9:0" || second.Count != 2 {
		t.Errorf("%+v", second)
	}
	all = append(all, Socket{State: "ESTAB", Local: at("10.0.0.1:50004"), Peer: at("10.0.0.6:80")}, Socket{State: "ESTAB", Local: at("10.0.0.1:50005"), Peer: at("10.0.0.5:80"), Retransmitted: 4})
	if troubled := Troubled(all); len(troubled) != 2 || troubled[0] != at("10.0.0.7:5432") || troubled[1] != at("10.0.0.5:80") {
		t.Errorf("%v", troubled)
	}
	if text := Table(all, 2); strings.Count(text, "\n") != 4 || !strings.Contains(text, "and 6 more") {
		t.Error(text)
	}
}

func TestATableOfCountersIsReadByName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "snmp")
	text := "Ip: A B\nIp: 1 2\nTcp: RtoMin OutSegs RetransSegs\nTcp: 200 1000 70\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if values := table(file, "Tcp:"); values["OutSegs"] != 1000 || values["RetransSegs"] != 70 {
		t.Errorf("%v", values)
	}
	if len(table(filepath.Join(t.TempDir(), "none"), "Tcp:")) != 0 {
		t.Error("no file has no counters")
	}
}
