// Package sockets tells the state of a pod's TCP connections, as ss -ti does: it needs no right, because a debug container shares the
// network of the pod.
package sockets

import (
	"bufio"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
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
		State: states[message.State],
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

// Peers groups connections by the other side: by its address and port, or, where clients connect to a port on which this pod listens, by
// address alone (port 0). Listeners are not in it. Most connections first.
func Peers(all []Socket) []Peer {
	listening := map[uint16]bool{}
	for _, each := range all {
		if each.State == "LISTEN" {
			listening[each.Local.Port()] = true
		}
	}
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

// Counters are what the kernel counts for the whole pod since it began.
type Counters struct {
	SegmentsOut, SegmentsAgain, ListenOverflows uint64
}

// Count reads the counters; those that cannot be read are 0.
func Count() Counters {
	snmp, netstat := table("/proc/net/snmp", "Tcp:"), table("/proc/net/netstat", "TcpExt:")
	return Counters{SegmentsOut: snmp["OutSegs"], SegmentsAgain: snmp["RetransSegs"], ListenOverflows: netstat["ListenOverflows"]}
}

// table reads the pair of lines, names and values, that begin with a word.
func table(path, word string) map[string]uint64 {
	values := map[string]uint64{}
	file, err := os.Open(path)
	if err != nil {
		return values
	}
	defer file.Close()
	var names []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] != word {
			continue
		}
		if names == nil {
			names = words
			continue
		}
		for index := 1; index < min(len(words), len(names)); index++ {
			values[names[index]], _ = strconv.ParseUint(words[index], 10, 64)
		}
		return values
	}
	return values
}

// Table is every socket on a line, for a file: at most most of them.
func Table(all []Socket, most int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%-11s %8s %8s  %-25s %-25s %9s %6s %6s\n", "state", "waiting", "unsent", "local", "peer", "rtt", "again", "total")
	for _, each := range all[:min(len(all), most)] {
		room, rtt := fmt.Sprint(each.Unsent), "-"
		if each.State == "LISTEN" {
			room = "of " + fmt.Sprint(each.Room)
		}
		if each.RTT > 0 {
			rtt = fmt.Sprintf("%.1fms", float64(each.RTT.Microseconds())/1000)
		}
		fmt.Fprintf(&text, "%-11s %8d %8s  %-25s %-25s %9s %6d %6d\n", each.State, each.Waiting, room, each.Local, each.Peer, rtt, each.Retransmits, each.Retransmitted)
	}
	if len(all) > most {
		fmt.Fprintf(&text, "and %d more\n", len(all)-most)
	}
	return text.String()
}
