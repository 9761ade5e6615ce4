package sockets

import (
	"net"
	"net/netip"
	"testing"
	"time"
)

func placeOfNet(t *testing.T, address net.Addr) netip.AddrPort {
	t.Helper()
	place, err := netip.ParseAddrPort(address.String())
	if err != nil {
		t.Fatal(err)
	}
	return place
}

func TestAConnectionIsAcceptedOnceAProgramHasTakenIt(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Skip(err)
		}
		defer listener.Close()
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		place, ours := placeOfNet(t, listener.Addr()), placeOfNet(t, client.LocalAddr())
		accepted, known := Accepted(place, ours)
		if !known {
			t.Skip("the kernel does not tell")
		}
		if accepted {
			t.Error(address, ": accepted although nobody took it")
		}
		waiting := uint32(0)
		if err := Listeners(func(each Socket) {
			if each.Local == place {
				waiting = each.Waiting
			}
			if each.State != "LISTEN" {
				t.Error(each.State)
			}
		}); err != nil || waiting != 1 {
			t.Error(address, err, waiting)
		}
		server, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if accepted, _ := Accepted(place, ours); !accepted {
			t.Error(address, ": not accepted although it was taken")
		}
		server.Close()
		client.Close()
		time.Sleep(time.Millisecond)
	}
}
