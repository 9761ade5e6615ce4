package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/vishvananda/netlink"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Limits of a capture.
const (
	MaxPackets = 5000
	MaxSeconds = 60
	Snap       = 256
	// maxInterfaces: a pod has two, a few with a second network.
	maxInterfaces = 16
	receiveBuffer = 2 << 20
	pollStep      = 200 * time.Millisecond
)

// Packet is one that passed the filter: at most Snap bytes of it, from the Ethernet header on.
type Packet struct {
	At     time.Time
	Data   []byte
	Length int
}

// Taken is a capture, in the order of time.
type Taken struct {
	Packets []Packet
	// Dropped says how many packets the kernel had no room for.
	Dropped uint32
	// Full is true if it ended because it had as many packets as it may.
	Full bool
	For  time.Duration
}

// Live captures on all interfaces of the pod until it has so many packets or the time is over.
func Live(ctx context.Context, program []bpf.RawInstruction, packets int, duration time.Duration) (taken Taken, err error) {
	sockets, err := open(program)
	if err != nil {
		return Taken{}, err
	}
	defer func() {
		for _, each := range sockets {
			if stats, err := unix.GetsockoptTpacketStats(each.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
				taken.Dropped += stats.Drops
			}
			unix.Close(each.fd)
		}
	}()
	began := time.Now()
	for time.Since(began) < duration && ctx.Err() == nil && !taken.Full {
		if err := collect(sockets, &taken, packets); err != nil {
			return Taken{}, err
		}
	}
	taken.For = time.Since(began)
	slices.SortStableFunc(taken.Packets, func(a, b Packet) int { return a.At.Compare(b.At) })
	return taken, nil
}

type socket struct {
	fd       int
	loopback bool
}

// open opens a socket for each Ethernet interface and the loopback. Each gets its filter before it is bound to any traffic, so that no packet
// comes in without it.
func open(program []bpf.RawInstruction) (sockets []socket, err error) {
	defer func() {
		if err != nil {
			for _, each := range sockets {
				unix.Close(each.fd)
			}
		}
	}()
	links, err := netlink.LinkList()
	if err != nil {
		return nil, fmt.Errorf("the interfaces of the pod cannot be listed: %w", err)
	}
	filter := make([]unix.SockFilter, len(program))
	for index, each := range program {
		filter[index] = unix.SockFilter{Code: each.Op, Jt: each.Jt, Jf: each.Jf, K: each.K}
	}
	for _, link := range links {
		attributes := link.Attrs()
		loopback := attributes.EncapType == "loopback"
		if (!loopback && attributes.EncapType != "ether") || attributes.RawFlags&unix.IFF_UP == 0 || len(sockets) == maxInterfaces {
			continue
		}
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return sockets, fmt.Errorf("a packet socket: %w", err)
		}
		sockets = append(sockets, socket{fd, loopback})
		if err := attach(fd, filter, attributes.Index); err != nil {
			return sockets, err
		}
	}
	if len(sockets) == 0 {
		return nil, errors.New("the pod has no interface that is up")
	}
	return sockets, nil
}

func attach(fd int, filter []unix.SockFilter, index int) error {
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program); err != nil {
		return fmt.Errorf("the kernel does not take the filter: %w", err)
	}
	// Without them the times and lengths are a little less right.
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, receiveBuffer)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	_ = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1)
	every := uint16(unix.ETH_P_ALL>>8 | unix.ETH_P_ALL&0xff<<8)
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: every, Ifindex: index}); err != nil {
		return fmt.Errorf("a packet socket: %w", err)
	}
	return nil
}

// collect waits a little, and takes what there is.
func collect(sockets []socket, taken *Taken, most int) error {
	ready := make([]unix.PollFd, len(sockets))
	for index, each := range sockets {
		ready[index] = unix.PollFd{Fd: int32(each.fd), Events: unix.POLLIN}
	}
	if _, err := unix.Poll(ready, int(pollStep.Milliseconds())); err != nil && !errors.Is(err, unix.EINTR) {
		return err
	}
	for index, each := range sockets {
		if ready[index].Revents&unix.POLLIN == 0 {
			continue
		}
		for !taken.Full {
			packet, found, err := receive(each)
			if errors.Is(err, unix.EAGAIN) {
				break
			}
			if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENETDOWN) || (err == nil && !found) {
				continue
			}
			if err != nil {
				return err
			}
			taken.Packets = append(taken.Packets, packet)
			taken.Full = len(taken.Packets) >= most
		}
	}
	return nil
}

// receive reads one packet. Of the loopback each passes twice: once is enough.
func receive(from socket) (Packet, bool, error) {
	data, control := make([]byte, Snap), make([]byte, 256)
	size, controlSize, _, sender, err := unix.Recvmsg(from.fd, data, control, 0)
	if err != nil {
		return Packet{}, false, err
	}
	if link, ok := sender.(*unix.SockaddrLinklayer); ok && from.loopback && link.Pkttype == unix.PACKET_OUTGOING {
		return Packet{}, false, nil
	}
	packet := Packet{At: time.Now(), Data: data[:size], Length: size}
	messages, err := unix.ParseSocketControlMessage(control[:controlSize])
	if err != nil {
		return packet, true, nil
	}
	for _, message := range messages {
		switch {
		case message.Header.Level == unix.SOL_SOCKET && message.Header.Type == unix.SO_TIMESTAMPNS && len(message.Data) >= int(unsafe.Sizeof(unix.Timespec{})):
			packet.At = time.Unix((*unix.Timespec)(unsafe.Pointer(&message.Data[0])).Unix())
		case message.Header.Level == unix.SOL_PACKET && message.Header.Type == unix.PACKET_AUXDATA && len(message.Data) >= int(unsafe.Sizeof(unix.TpacketAuxdata{})):
			packet.Length = max(size, int((*unix.TpacketAuxdata)(unsafe.Pointer(&message.Data[0])).Len))
		}
	}
	return packet, true, nil
}

// Pcap makes the file that tcpdump and Wireshark read.
func (t Taken) Pcap() ([]byte, error) {
	var file bytes.Buffer
	writer := pcapgo.NewWriterNanos(&file)
	if err := writer.WriteFileHeader(Snap, layers.LinkTypeEthernet); err != nil {
		return nil, err
	}
	for _, each := range t.Packets {
		info := gopacket.CaptureInfo{Timestamp: each.At, CaptureLength: len(each.Data), Length: each.Length}
		if err := writer.WritePacket(info, each.Data); err != nil {
			return nil, err
		}
	}
	return file.Bytes(), nil
}
