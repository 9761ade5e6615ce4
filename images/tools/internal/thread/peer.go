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
}

// allSockets lists the sockets of the pod; a test has its own.
var allSockets = sockets.All

func readTable() *table {
	all, _ := allSockets()
	found := &table{map[string]sockets.Socket{}, map[uint16]bool{}}
	for _, each := range all {
		if each.State == "LISTEN" {
			found.listening[each.Local.Port()] = true
		}
		if each.Inode != 0 {
			found.byInode[strconv.FormatUint(uint64(each.Inode), 10)] = each
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
		return Seen{Class: Socket, Words: verb + "a socket that is not TCP"}
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
