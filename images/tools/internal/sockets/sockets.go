// Package sockets tells the state of a pod's TCP connections, as ss -ti does: it needs no right, because a debug container shares the
// network of the pod.
package sockets

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
)

// Socket is one TCP socket of the pod.
type Socket struct {
	Local, Peer netip.AddrPort
	State       string
	// Waiting is, of a listener, how many connections wait to be accepted, and Room how many may; of a connection, the bytes not read.
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
	// Inode is the number in the link of an open file: "socket:[INODE]". 0 where no process holds it.
	Inode uint32
}

var states = map[uint8]string{
	1: "ESTAB", 2: "SYN-SENT", 3: "SYN-RECV", 4: "FIN-WAIT-1", 5: "FIN-WAIT-2", 6: "TIME-WAIT", 7: "CLOSE", 8: "CLOSE-WAIT", 9: "LAST-ACK", 10: "LISTEN",
	11: "CLOSING", 12: "SYN-RECV",
}

// All lists the TCP sockets of the network that this process is in.
func All() ([]Socket, error) {
	var all []Socket
	for _, family := range []uint8{syscall.AF_INET, syscall.AF_INET6} {
		infos, err := netlink.SocketDiagTCPInfo(family)
		// A table that changes while it is read may lack a socket or have one twice.
		if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
			return nil, err
		}
		for _, info := range infos {
			if info.InetDiagMsg != nil {
				all = append(all, socketOf(info))
			}
		}
	}
	return all, nil
}

func socketOf(info *netlink.InetDiagTCPInfoResp) Socket {
	message := info.InetDiagMsg
	socket := Socket{
		Local: place(message.ID.Source, message.ID.SourcePort), Peer: place(message.ID.Destination, message.ID.DestinationPort),
		State: states[message.State], Inode: message.INode,
	}
	if socket.State == "" {
		socket.State = "state " + strconv.Itoa(int(message.State))
	}
	if socket.State == "LISTEN" {
		socket.Waiting, socket.Room = message.RQueue, message.WQueue
		return socket
	}
	socket.Waiting, socket.Unsent = message.RQueue, message.WQueue
	// Of a connection that is over the kernel has no more to tell.
	if tcp := info.TCPInfo; tcp != nil && socket.State != "TIME-WAIT" {
		socket.RTT = time.Duration(tcp.Rtt) * time.Microsecond
		socket.Retransmits, socket.Retransmitted = uint32(tcp.Retransmits), tcp.Total_retrans
		socket.LastSent, socket.LastReceived = time.Duration(tcp.Last_data_sent)*time.Millisecond, time.Duration(tcp.Last_data_recv)*time.Millisecond
		socket.BytesSent, socket.BytesReceived = tcp.Bytes_sent, tcp.Bytes_received
		if socket.BytesSent == 0 && tcp.Bytes_acked > 1 {
			// Before Linux 4.19; the packet that opened the connection counts as one.
			socket.BytesSent = tcp.Bytes_acked - 1
		}
		if socket.State == "SYN-SENT" {
			// Not measured: the value that each connection begins with.
			socket.RTT = 0
		}
	}
	return socket
}

func place(bytes []byte, port uint16) netip.AddrPort {
	address, _ := netip.AddrFromSlice(bytes)
	return netip.AddrPortFrom(address.Unmap(), port)
}

// Peer sums up what the pod has with one peer.
type Peer struct {
	Place  netip.AddrPort
	Count  int
	States map[string]int
	// RTT is the longest.
	RTT                        time.Duration
	Unsent                     uint64
	Retransmits, Retransmitted uint32
}

func listenersOf(all []Socket) map[uint16]bool {
	listening := map[uint16]bool{}
	for _, each := range all {
		if each.State == "LISTEN" {
			listening[each.Local.Port()] = true
		}
	}
	return listening
}

// Peers groups connections by the other side: by its address and port, or, where clients connect to a port on which this pod listens, by
// address alone (port 0). Listeners are not in it. Most connections first.
func Peers(all []Socket) []Peer {
	listening := listenersOf(all)
	byPlace := map[netip.AddrPort]*Peer{}
	var order []*Peer
	for _, each := range all {
		if each.State == "LISTEN" || !each.Peer.IsValid() || each.Peer.Port() == 0 {
			continue
		}
		key := each.Peer
		if listening[each.Local.Port()] {
			key = netip.AddrPortFrom(each.Peer.Addr(), 0)
		}
		peer := byPlace[key]
		if peer == nil {
			peer = &Peer{Place: key, States: map[string]int{}}
			byPlace[key] = peer
			order = append(order, peer)
		}
		peer.Count++
		peer.States[each.State]++
		peer.RTT = max(peer.RTT, each.RTT)
		peer.Unsent += uint64(each.Unsent)
		peer.Retransmits = max(peer.Retransmits, each.Retransmits)
		peer.Retransmitted += each.Retransmitted
	}
	peers := make([]Peer, len(order))
	for index, each := range order {
		peers[index] = *each
	}
	slices.SortStableFunc(peers, func(a, b Peer) int { return b.Count - a.Count })
	return peers
}

// Troubled are the servers to which connections wait for an answer or have sent packets again, the worst first.
func Troubled(all []Socket) []netip.AddrPort {
	peers := slices.DeleteFunc(Peers(all), func(peer Peer) bool {
		return peer.Place.Port() == 0 || (peer.States["SYN-SENT"] == 0 && peer.Retransmitted == 0)
	})
	slices.SortStableFunc(peers, func(a, b Peer) int {
		if more := b.States["SYN-SENT"] - a.States["SYN-SENT"]; more != 0 {
			return more
		}
		return int(b.Retransmitted) - int(a.Retransmitted)
	})
	places := make([]netip.AddrPort, len(peers))
	for index, each := range peers {
		places[index] = each.Place
	}
	return places
}
