package sockets

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"syscall"
	"time"
)

// What sock_diag(7) takes and gives. The library for it keeps all answers in memory at once: of a pod with 50,000 sockets, more than a look may take.
const (
	netlinkSockDiag = 4  // NETLINK_SOCK_DIAG
	diagByFamily    = 20 // SOCK_DIAG_BY_FAMILY
	diagInfo        = 2  // INET_DIAG_INFO
	allStates       = 0xffffffff
	requestSize     = syscall.SizeofNlMsghdr + 56
	diagSize        = 72
	diagBuffer      = 32 << 10
	diagPatience    = 2 // seconds
)

// Where the fields of tcp_info lie; what an older kernel does not have is behind its end.
const (
	infoRetransmits, infoLastSent, infoLastReceived, infoRTT, infoTotal = 2, 44, 52, 68, 100
	infoAcked, infoReceived, infoSent                                   = 120, 128, 200
)

var native = binary.NativeEndian

// dump asks the kernel for the sockets of one family.
func dump(family uint8, take func(Socket)) error {
	request := requestOf(family, syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	request[18] = 1 << (diagInfo - 1)
	return ask(request, take)
}

// requestOf asks for the sockets of a family in all states.
func requestOf(family uint8, flags uint16) []byte {
	request := make([]byte, requestSize)
	native.PutUint32(request, requestSize)
	native.PutUint16(request[4:], diagByFamily)
	native.PutUint16(request[6:], flags)
	request[16], request[17] = family, syscall.IPPROTO_TCP
	native.PutUint32(request[20:], allStates)
	return request
}

// ask sends a request and takes the sockets of its answer.
func ask(request []byte, take func(Socket)) error {
	socket, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, netlinkSockDiag)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	if err := syscall.SetsockoptTimeval(socket, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: diagPatience}); err != nil {
		return err
	}
	if err := syscall.Sendto(socket, request, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return err
	}
	buffer := make([]byte, diagBuffer)
	for {
		size, _, err := syscall.Recvfrom(socket, buffer, 0)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return err
		}
		if done, err := messages(buffer[:size], take); done || err != nil {
			return err
		}
	}
}

var errShort = errors.New("sock_diag gave half a message")

// messages reads what came at once. Done is whether it was the last.
func messages(data []byte, take func(Socket)) (done bool, err error) {
	for len(data) >= syscall.SizeofNlMsghdr {
		size, kind := int(native.Uint32(data)), native.Uint16(data[4:])
		if size < syscall.SizeofNlMsghdr || size > len(data) {
			return true, errShort
		}
		body := data[syscall.SizeofNlMsghdr:size]
		switch kind {
		case syscall.NLMSG_DONE:
			return true, nil
		case syscall.NLMSG_ERROR:
			if len(body) < 4 {
				return true, errShort
			}
			if code := -int32(native.Uint32(body)); code != 0 {
				return true, syscall.Errno(code)
			}
			// An answer that was to be confirmed.
			return true, nil
		case diagByFamily:
			if len(body) < diagSize {
				return true, errShort
			}
			take(socketOf(body))
		}
		data = data[min(aligned(size), len(data)):]
	}
	return false, nil
}

func aligned(size int) int { return (size + 3) &^ 3 }

// socketOf reads inet_diag_msg, and tcp_info behind it.
func socketOf(body []byte) Socket {
	family, id := body[0], body[4:52]
	socket := Socket{
		State: stateOf(body[1]), Inode: native.Uint32(body[68:]),
		Local: place(family, id[4:20], id[0:2]), Peer: place(family, id[20:36], id[2:4]),
	}
	received, sent := native.Uint32(body[56:]), native.Uint32(body[60:])
	socket.Waiting = received
	if socket.State == "LISTEN" {
		socket.Room = sent
		return socket
	}
	socket.Unsent = sent
	// Of a connection that is over the kernel has no more to tell.
	if info := attribute(body[diagSize:], diagInfo); len(info) > infoTotal+4 && socket.State != "TIME-WAIT" {
		socket.measure(info)
	}
	return socket
}

func (s *Socket) measure(info []byte) {
	number := func(at int) uint32 { return native.Uint32(info[at:]) }
	s.Retransmits, s.Retransmitted = uint32(info[infoRetransmits]), number(infoTotal)
	if s.State == "SYN-SENT" {
		// Not measured: the values that each connection begins with.
		return
	}
	s.RTT = time.Duration(number(infoRTT)) * time.Microsecond
	s.LastSent, s.LastReceived = time.Duration(number(infoLastSent))*time.Millisecond, time.Duration(number(infoLastReceived))*time.Millisecond
	long := func(at int) uint64 {
		if len(info) < at+8 {
			return 0
		}
		return native.Uint64(info[at:])
	}
	s.BytesReceived, s.BytesSent = long(infoReceived), long(infoSent)
	acked := long(infoAcked)
	s.wasOpen = acked > 0
	if s.BytesSent == 0 && acked > 1 {
		// Before Linux 4.19. The packet that opened the connection counts as one byte.
		s.BytesSent = acked - 1
	}
}

// attribute is the value of the first attribute of a kind; nil where there is none.
func attribute(data []byte, kind uint16) []byte {
	for len(data) >= 4 {
		size := int(native.Uint16(data))
		if size < 4 || size > len(data) {
			return nil
		}
		if native.Uint16(data[2:]) == kind {
			return data[4:size]
		}
		data = data[min(aligned(size), len(data)):]
	}
	return nil
}

func place(family uint8, address, port []byte) netip.AddrPort {
	size := 4
	if family == syscall.AF_INET6 {
		size = 16
	}
	ip, _ := netip.AddrFromSlice(address[:size])
	return netip.AddrPortFrom(ip.Unmap(), binary.BigEndian.Uint16(port))
}
