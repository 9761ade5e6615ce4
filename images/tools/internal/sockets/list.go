package sockets

import (
	"bufio"
	"encoding/hex"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// List reads a table of /proc/net/tcp: local and peer address, state, bytes not confirmed and not read (of a listener: connections that wait), inode.
func List(path string, take func(Socket)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if socket, ok := listed(lines.Text()); ok {
			take(socket)
		}
	}
	return lines.Err()
}

// Datagrams lists the UDP sockets of the network that this process is in. The port of the Peer is 0 where a socket has none of its own.
func Datagrams() []Socket {
	var all []Socket
	take := func(socket Socket) { all = append(all, socket) }
	// A node without IPv6 has no second one.
	_, _ = List("/proc/self/net/udp", take), List("/proc/self/net/udp6", take)
	return all
}

func listed(line string) (Socket, bool) {
	words := strings.Fields(line)
	if len(words) < 10 {
		return Socket{}, false
	}
	local, ok := placeIn(words[1])
	peer, too := placeIn(words[2])
	state, err := strconv.ParseUint(words[3], 16, 8)
	if !ok || !too || err != nil {
		return Socket{}, false
	}
	socket := Socket{Local: local, Peer: peer, State: stateOf(uint8(state))}
	unsent, waiting, _ := strings.Cut(words[4], ":")
	socket.Unsent, socket.Waiting = number(unsent, 16), number(waiting, 16)
	socket.Inode = number(words[9], 10)
	return socket, true
}

func number(text string, base int) uint32 {
	value, _ := strconv.ParseUint(text, base, 32)
	return uint32(value)
}

// placeIn reads "0100007F:240D": words of four bytes in the order of the machine, which is little-endian on all of ours.
func placeIn(text string) (netip.AddrPort, bool) {
	host, portText, _ := strings.Cut(text, ":")
	port, err := strconv.ParseUint(portText, 16, 16)
	bytes, wrong := hex.DecodeString(host)
	if err != nil || wrong != nil || len(bytes) != 4 && len(bytes) != 16 {
		return netip.AddrPort{}, false
	}
	for at := 0; at < len(bytes); at += 4 {
		bytes[at], bytes[at+1], bytes[at+2], bytes[at+3] = bytes[at+3], bytes[at+2], bytes[at+1], bytes[at]
	}
	address, _ := netip.AddrFromSlice(bytes)
	return netip.AddrPortFrom(address.Unmap(), uint16(port)), true
}
