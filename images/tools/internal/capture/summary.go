package capture

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"kdebug/tools/internal/report"
)

// Conversation is what passed between two ends.
type Conversation struct {
	// From is who spoke first in the capture.
	From, To, Protocol string
	Packets, Bytes     int
	// Asks counts SYN, Again those of them after the first; Answered is whether any packet came back.
	Asks, Again, Resets int
	Answered            bool
	// Repeats counts segments with data that were sent more than once.
	Repeats int
}

// Summary is a capture in numbers.
type Summary struct {
	Conversations []Conversation
	// Unreachable counts ICMP's messages of that kind.
	Unreachable int
}

type ends struct{ a, b, protocol string }

type segment struct {
	from, to string
	sequence uint32
	length   int
}

// Sum sums up; most packets first. What it cannot read it counts by its kind of packet.
func (t Taken) Sum() Summary {
	var summary Summary
	byEnds := map[ends]*Conversation{}
	var order []*Conversation
	seen := map[segment]bool{}
	for _, each := range t.Packets {
		decoded := gopacket.NewPacket(each.Data, layers.LayerTypeEthernet, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
		from, to, protocol := endsOf(decoded)
		key := ends{min(from, to), max(from, to), protocol}
		conversation := byEnds[key]
		if conversation == nil {
			conversation = &Conversation{From: from, To: to, Protocol: protocol}
			byEnds[key] = conversation
			order = append(order, conversation)
		}
		conversation.Packets++
		conversation.Bytes += each.Length
		conversation.Answered = conversation.Answered || conversation.From != from
		if tcp, ok := decoded.Layer(layers.LayerTypeTCP).(*layers.TCP); ok {
			conversation.see(tcp, segment{from, to, tcp.Seq, dataLength(decoded, tcp, each.Length)}, seen)
		}
		if icmp, ok := decoded.Layer(layers.LayerTypeICMPv4).(*layers.ICMPv4); ok && icmp.TypeCode.Type() == layers.ICMPv4TypeDestinationUnreachable {
			summary.Unreachable++
		}
		if icmp, ok := decoded.Layer(layers.LayerTypeICMPv6).(*layers.ICMPv6); ok && icmp.TypeCode.Type() == layers.ICMPv6TypeDestinationUnreachable {
			summary.Unreachable++
		}
	}
	for _, each := range order {
		summary.Conversations = append(summary.Conversations, *each)
	}
	slices.SortStableFunc(summary.Conversations, func(a, b Conversation) int { return b.Packets - a.Packets })
	return summary
}

func (c *Conversation) see(tcp *layers.TCP, part segment, seen map[segment]bool) {
	if tcp.SYN && !tcp.ACK {
		c.Asks++
		if c.Asks > 1 {
			c.Again++
		}
	}
	if tcp.RST {
		c.Resets++
	}
	if part.length > 0 {
		if seen[part] {
			c.Repeats++
		}
		seen[part] = true
	}
}

// endsOf names both ends, as address and port where there are ports.
func endsOf(decoded gopacket.Packet) (from, to, protocol string) {
	network := decoded.NetworkLayer()
	if network == nil {
		if arp, ok := decoded.Layer(layers.LayerTypeARP).(*layers.ARP); ok {
			return net.IP(arp.SourceProtAddress).String(), net.IP(arp.DstProtAddress).String(), "arp"
		}
		return "?", "?", "other"
	}
	from, to = network.NetworkFlow().Src().String(), network.NetworkFlow().Dst().String()
	switch transport := decoded.TransportLayer().(type) {
	case *layers.TCP:
		return place(from, uint16(transport.SrcPort)), place(to, uint16(transport.DstPort)), "tcp"
	case *layers.UDP:
		return place(from, uint16(transport.SrcPort)), place(to, uint16(transport.DstPort)), "udp"
	}
	if decoded.Layer(layers.LayerTypeICMPv4) != nil || decoded.Layer(layers.LayerTypeICMPv6) != nil {
		return from, to, "icmp"
	}
	return from, to, "ip"
}

func place(host string, port uint16) string { return net.JoinHostPort(host, fmt.Sprint(port)) }

// dataLength is how many bytes of data a segment had on the wire, not how many were kept.
func dataLength(decoded gopacket.Packet, tcp *layers.TCP, length int) int {
	header := 14 + int(tcp.DataOffset)*4
	switch network := decoded.NetworkLayer().(type) {
	case *layers.IPv4:
		// Short packets are padded to 60 bytes of Ethernet, so the length of IP counts; segments that the card cuts later have none.
		if network.Length > 0 {
			return int(network.Length) - int(network.IHL)*4 - int(tcp.DataOffset)*4
		}
		return length - header - int(network.IHL)*4
	case *layers.IPv6:
		return int(network.Length) - int(tcp.DataOffset)*4
	}
	return 0
}

// String is one line for people.
func (c Conversation) String() string {
	words := []string{fmt.Sprintf("%s, %s", report.Counted(c.Packets, "packet"), report.Counted(c.Bytes, "byte"))}
	if c.Asks > 0 && !c.Answered {
		words = append(words, fmt.Sprintf("asked %s and got no answer", report.Counted(c.Asks, "time")))
	}
	if c.Resets > 0 {
		words = append(words, report.Counted(c.Resets, "reset"))
	}
	if c.Repeats > 0 {
		words = append(words, report.Counted(c.Repeats, "segment")+" sent again")
	}
	return fmt.Sprintf("%s > %s %s: %s", c.From, c.To, c.Protocol, strings.Join(words, ", "))
}
