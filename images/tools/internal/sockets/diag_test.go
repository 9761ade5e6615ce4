package sockets

import (
	"net"
	"net/netip"
	"testing"
)

// What is left of a message must not be read beyond its end, whatever sizes it names.
func TestHalfMessagesOfTheKernelAreAnError(t *testing.T) {
	message := make([]byte, 16+diagSize+8)
	native.PutUint32(message, uint32(len(message)))
	native.PutUint16(message[4:], diagByFamily)
	native.PutUint16(message[16+diagSize:], 8)
	taken := 0
	if done, err := messages(message, func(Socket) { taken++ }); done || err != nil || taken != 1 {
		t.Fatal(done, err, taken)
	}
	for size := range message[:16+diagSize] {
		native.PutUint32(message, uint32(size))
		if done, err := messages(message[:size], func(Socket) { t.Error("a socket of", size) }); size >= 16 && (!done || err == nil) {
			t.Error(size, done, err)
		}
	}
	for _, size := range []uint16{0, 3, 9, 0xffff} {
		native.PutUint16(message[16+diagSize:], size)
		if attribute(message[16+diagSize:], diagInfo) != nil {
			t.Error(size)
		}
	}
}

// Where there is no sock_diag, /proc/net/tcp says the same of states, queues and owners.
func TestBothWaysToTheSocketsAgree(t *testing.T) {
	listener, err := net.Listen("tcp", "127.83.71.8:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	place := netip.MustParseAddrPort(listener.Addr().String())
	conn, err := net.Dial("tcp", place.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	read := func(each func(func(Socket)) error) map[string]Socket {
		found := map[string]Socket{}
		if err := each(func(socket Socket) {
			if socket.Local == place || socket.Peer == place {
				found[socket.State+socket.Local.String()] = socket
			}
		}); err != nil {
			t.Fatal(err)
		}
		return found
	}
	diag, text := read(Each), read(func(take func(Socket)) error { return List("/proc/self/net/tcp", take) })
	if len(diag) != 3 || len(text) != 3 {
		t.Fatalf("%v %v", diag, text)
	}
	for key, one := range diag {
		other := text[key]
		if one.Local != other.Local || one.Peer != other.Peer && one.State != "LISTEN" || one.Waiting != other.Waiting || one.Inode != other.Inode {
			t.Errorf("%+v %+v", one, other)
		}
	}
}

func TestAUDPSocketIsListedWithItsPeer(t *testing.T) {
	conn, err := net.Dial("udp", "127.83.71.11:53")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, each := range Datagrams() {
		if each.Local.String() == conn.LocalAddr().String() {
			if each.Peer.String() != "127.83.71.11:53" || each.Inode == 0 {
				t.Errorf("%+v", each)
			}
			return
		}
	}
	t.Error("it is not listed")
}
