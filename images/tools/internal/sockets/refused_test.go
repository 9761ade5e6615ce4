package sockets

import (
	"net"
	"net/netip"
	"testing"

	"kdebug/tools/internal/rules"
)

func TestAWatchNamesThePeersThatRefuse(t *testing.T) {
	listener, err := net.Listen("tcp", "127.83.71.9:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	watch := WatchFailed()
	for range 3 {
		if conn, err := net.Dial("tcp", "127.83.71.10:1"); err == nil {
			conn.Close()
		}
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	failed := watch.Stop()
	if failed == nil {
		t.Skip("the kernel does not tell")
	}
	if failed[netip.MustParseAddrPort("127.83.71.10:1")] != 3 || failed[netip.MustParseAddrPort(listener.Addr().String())] != 0 {
		t.Errorf("%v", failed)
	}
}

// A load balancer's check connects and cuts: both ends count as reset.
func TestConnectionsThatThePodCutsItselfAreNoResets(t *testing.T) {
	listener, err := net.Listen("tcp", "127.83.71.9:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	before := Count()
	for range 10 {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		other, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if err = conn.(*net.TCPConn).SetLinger(0); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if _, err = other.Read(make([]byte, 1)); err == nil {
			t.Error("it is not cut")
		}
		other.Close()
	}
	counted := Count().Since(before)
	if counted.Reset < 20 || counted.Cut < 10 {
		t.Errorf("%+v", counted)
	}
	part := rules.NewPart("sockets")
	View{Sample: Counters{Reset: counted.Reset, Cut: counted.Cut}}.FindAttempts(part)
	others := View{Sample: Counters{Reset: 10}}
	others.FindAttempts(part)
	if len(part.Findings) != 1 || part.Findings[0].Text != "10 connections of the pod were reset within the sample" {
		t.Errorf("%+v of %+v", part.Findings, counted)
	}
}
