package sockets

import (
	"net"
	"net/netip"
	"testing"
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
