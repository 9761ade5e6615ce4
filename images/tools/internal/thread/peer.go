package thread

import (
	"strconv"
	"time"

	"kdebug/tools/internal/sockets"
)

// table is the TCP sockets of the pod by their inodes, and its ports that are listened at.
type table struct {
	byInode   map[string]sockets.Socket
	listening map[uint16]bool
	// datagrams are those of UDP; nil before somebody asks.
	datagrams map[string]sockets.Socket
}

// allSockets and allDatagrams list the sockets of the pod; a test has its own.
var (
	allSockets   = sockets.All
	allDatagrams = sockets.Datagrams
)

// Names begins the words for a thread that waits for a name server.
const Names = "waiting for the name server "

func readTable() *table {
	all, _ := allSockets()
	found := &table{byInode: map[string]sockets.Socket{}, listening: map[uint16]bool{}}
	for _, each := range all {
		if each.State == "LISTEN" {
			found.listening[each.Local.Port()] = true
		}
		if each.Inode != 0 {
			found.byInode[nameOf(each)] = each
		}
	}
	return found
}

// socket is a wait at a socket. One for a client is a wait for its next request: nobody is late.
func (f *files) socket(inode, verb string) Seen {
	if f.sockets == nil {
		f.sockets = readTable()
	}
	found, known := f.sockets.byInode[inode]
	peer := found.Peer.String()
	switch {
	case !known:
		return f.datagram(inode, verb)
	case found.State == "LISTEN":
		return Seen{Class: Queue, Words: wordsClient}
	case f.sockets.listening[found.Local.Port()] && verb == "reading from ":
		return Seen{Class: Queue, Words: "waiting for a client"}
	case f.sockets.listening[found.Local.Port()]:
		return Seen{Class: Socket, Words: verb + "a client", Waited: silent(found)}
	case found.State == "SYN-SENT":
		return Seen{Class: Socket, Peer: peer, Words: "connecting to " + peer}
	}
	return Seen{Class: Socket, Peer: peer, Waited: silent(found), Words: verb + peer}
}

// silent is since when nothing went in either direction.
func silent(socket sockets.Socket) time.Duration {
	if socket.State != "ESTAB" {
		return 0
	}
	return min(socket.LastSent, socket.LastReceived)
}

func nameOf(socket sockets.Socket) string { return strconv.FormatUint(uint64(socket.Inode), 10) }

// datagram is a wait at a socket that is not TCP. Only of a name server is it known that it owes an answer: at others a thread may wait for news.
func (f *files) datagram(inode, verb string) Seen {
	const nameServer = 53
	if f.sockets.datagrams == nil {
		f.sockets.datagrams = map[string]sockets.Socket{}
		for _, each := range allDatagrams() {
			f.sockets.datagrams[nameOf(each)] = each
		}
	}
	found, known := f.sockets.datagrams[inode]
	peer := found.Peer.String()
	switch {
	case !known:
		return Seen{Class: Socket, Words: verb + "a socket that is not TCP"}
	case found.Peer.Port() == nameServer && found.Local.Port() != nameServer:
		return Seen{Class: Socket, Peer: peer, Words: Names + peer}
	case found.Peer.Port() != 0:
		return Seen{Class: Socket, Words: verb + peer + " (UDP)"}
	}
	return Seen{Class: Socket, Words: verb + "a UDP socket"}
}
