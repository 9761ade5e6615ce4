package thread

import (
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
)

// connection is a socket of the pod by its inode.
type connection struct {
	peer netip.AddrPort
	// isListener, isClient: the pod listens there, or the other side connected to such a port.
	isListener, isClient bool
	isConnecting         bool
	silent               time.Duration
}

type table map[string]connection

// readTable lists the TCP sockets of the pod; a test has its own.
var readTable = func() table {
	found := table{}
	listening := map[uint16]bool{}
	var all []*netlink.InetDiagTCPInfoResp
	for _, family := range []uint8{syscall.AF_INET, syscall.AF_INET6} {
		infos, _ := netlink.SocketDiagTCPInfo(family)
		all = append(all, infos...)
	}
	for _, info := range all {
		if message := info.InetDiagMsg; message != nil && message.State == netlink.TCP_LISTEN {
			listening[message.ID.SourcePort] = true
		}
	}
	for _, info := range all {
		message := info.InetDiagMsg
		if message == nil || message.INode == 0 {
			continue
		}
		address, _ := netip.AddrFromSlice(message.ID.Destination)
		each := connection{
			peer: netip.AddrPortFrom(address.Unmap(), message.ID.DestinationPort), isListener: message.State == netlink.TCP_LISTEN,
			isConnecting: message.State == netlink.TCP_SYN_SENT, isClient: listening[message.ID.SourcePort],
		}
		if tcp := info.TCPInfo; tcp != nil && message.State == netlink.TCP_ESTABLISHED {
			each.silent = time.Duration(min(tcp.Last_data_sent, tcp.Last_data_recv)) * time.Millisecond
		}
		found[strconv.FormatUint(uint64(message.INode), 10)] = each
	}
	return found
}

// socket is a wait at a socket. One for a client is a wait for its next request: nobody is late.
func (f *files) socket(inode, verb string) Seen {
	if f.sockets == nil {
		all := readTable()
		f.sockets = &all
	}
	found, known := (*f.sockets)[inode]
	switch {
	case !known:
		return Seen{Class: Socket, Words: verb + "a socket that is not TCP"}
	case found.isListener:
		return Seen{Class: Queue, Words: wordsClient}
	case found.isClient && verb == "reading from ":
		return Seen{Class: Queue, Words: "waiting for a client"}
	case found.isClient:
		return Seen{Class: Socket, Words: verb + "a client", Waited: found.silent}
	case found.isConnecting:
		return Seen{Class: Socket, Peer: found.peer.String(), Words: "connecting to " + found.peer.String()}
	}
	return Seen{Class: Socket, Peer: found.peer.String(), Waited: found.silent, Words: verb + found.peer.String()}
}
