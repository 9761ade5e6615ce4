// Package sockets tells the state of a pod's TCP connections, as ss -ti does: it needs no right, because a debug container shares the
// network of the pod.
package sockets

import (
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

// Socket is one TCP socket of the pod.
type Socket struct {
	Local, Peer netip.AddrPort
	// State is as in ss: ESTAB, LISTEN, CLOSE-WAIT ….
	State string
	// Waiting is, of a listener, how many connections wait to be accepted, and Room how many may; of a connection, the bytes not read. Room is 0
	// where the kernel does not tell it.
	Waiting, Room uint32
	// Unsent are bytes that the peer has not confirmed.
	Unsent uint32
	// RTT is the smoothed round trip; 0 where nothing was measured.
	RTT time.Duration
	// Retransmits says how often the oldest unconfirmed packet was sent again; Retransmitted counts all of the connection's life.
	Retransmits, Retransmitted uint32
	// LastSent and LastReceived are how long ago data went and came; before that, how long ago it was connected. They are as exact as the kernel's
	// clock, 1 to 10 ms.
	LastSent, LastReceived time.Duration
	// BytesSent and BytesReceived count data of the connection's life; what the kernel does not tell is 0.
	BytesSent, BytesReceived uint64
	// wasOpen is whether the peer ever confirmed the connection.
	wasOpen bool
	// Inode is the number in the link of an open file: "socket:[INODE]". 0 where no process holds it.
	Inode uint32
}

var states = map[uint8]string{
	1: "ESTAB", 2: "SYN-SENT", 3: "SYN-RECV", 4: "FIN-WAIT-1", 5: "FIN-WAIT-2", 6: "TIME-WAIT", 7: "CLOSE", 8: "CLOSE-WAIT", 9: "LAST-ACK", 10: "LISTEN",
	11: "CLOSING", 12: "SYN-RECV",
}

func stateOf(number uint8) string {
	if name := states[number]; name != "" {
		return name
	}
	return "state " + strconv.Itoa(int(number))
}

// All lists the TCP sockets of the network that this process is in. A table that changes while it is read may lack a socket or have one twice.
func All() ([]Socket, error) {
	var all []Socket
	err := Each(func(socket Socket) { all = append(all, socket) })
	return all, err
}

// Pod is what one reading of the sockets shows to a look that has little room: of a pod with very many, not all one by one.
type Pod struct {
	// Live are the sockets that some process holds, at most MaxLive; More were left out.
	Live []Socket
	More int
	// TimeWait are connections that are over and keep their local port for a while; Towards counts those by peer.
	TimeWait int
	Towards  map[netip.AddrPort]int
}

const (
	// MaxLive sockets take 3 MiB.
	MaxLive = 20_000
	// maxTowards: the ports of a machine are used up towards few peers only.
	maxTowards = 1_000
)

// ReadPod reads the sockets of the network that this process is in.
func ReadPod() (Pod, error) {
	pod := Pod{Towards: map[netip.AddrPort]int{}}
	err := Each(func(socket Socket) {
		switch {
		case socket.State == "TIME-WAIT":
			pod.TimeWait++
			if _, known := pod.Towards[socket.Peer]; known || len(pod.Towards) < maxTowards {
				pod.Towards[socket.Peer]++
			}
		case len(pod.Live) < MaxLive:
			pod.Live = append(pod.Live, socket)
		default:
			pod.More++
		}
	})
	return pod, err
}

// Each calls take with one socket after the other, so that a pod with very many needs no room for all. Where the kernel has no sock_diag (gVisor), or
// it is not allowed, the sockets are those of /proc/net/tcp: without clocks, round trips, counts and the room of queues.
func Each(take func(Socket)) error {
	err := dump(syscall.AF_INET, take)
	if err == nil {
		// A node without IPv6 has none.
		_ = dump(syscall.AF_INET6, take)
		return nil
	}
	if listed := List("/proc/self/net/tcp", take); listed != nil {
		return err
	}
	_ = List("/proc/self/net/tcp6", take)
	return nil
}
