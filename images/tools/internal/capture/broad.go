package capture

import (
	"math/rand/v2"
	"net/netip"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"golang.org/x/net/bpf"
)

const samples = 64

// kind is one of the kinds of packets that a pod's traffic is made of: who takes more than half of any takes too much.
type kind struct {
	v6, udp bool
	// size is of the data, and pushed whether TCP hands it on at once: long ones come in both forms.
	size   int
	pushed bool
	// Own is the pod's address, from or to which the packets go; not valid for those of any host.
	own    netip.Addr
	toHere bool
}

func kinds(own []netip.Addr) []kind {
	var all []kind
	add := func(v6 bool, address netip.Addr, toHere bool) {
		for _, udp := range []bool{false, true} {
			all = append(all, kind{v6, udp, 10, true, address, toHere}, kind{v6, udp, 900, true, address, toHere})
		}
		all = append(all, kind{v6, false, 1400, false, address, toHere})
	}
	add(false, netip.Addr{}, false)
	add(true, netip.Addr{}, false)
	for _, address := range own {
		add(address.Is6(), address, false)
		add(address.Is6(), address, true)
	}
	return all
}

// broad is whether a filter lets more than half of the made-up packets of a kind pass: its effect counts, not its words.
func broad(program []bpf.RawInstruction, own []netip.Addr) bool {
	instructions, known := bpf.Disassemble(program)
	if !known {
		return true
	}
	machine, err := bpf.NewVM(instructions)
	if err != nil {
		return true
	}
	for _, each := range kinds(own) {
		// The same ones each time: whether a filter is taken must not be a matter of luck.
		random := rand.New(rand.NewPCG(1, 2))
		passed := 0
		for range samples {
			if kept, err := machine.Run(each.packet(random)); err == nil && kept > 0 {
				passed++
			}
		}
		if passed > samples/2 {
			return true
		}
	}
	return false
}

func privateAddress(random *rand.Rand, v6 bool) netip.Addr {
	if v6 {
		bytes := [16]byte{0: 0xfd}
		for at := 1; at < len(bytes); at++ {
			bytes[at] = byte(random.IntN(256))
		}
		return netip.AddrFrom16(bytes)
	}
	bytes := [4]byte{10, byte(random.IntN(256)), byte(random.IntN(256)), byte(1 + random.IntN(254))}
	switch random.IntN(4) {
	case 0:
		bytes[0], bytes[1] = 172, 16+bytes[1]%16
	case 1:
		bytes[0], bytes[1] = 192, 168
	}
	return netip.AddrFrom4(bytes)
}

func port(random *rand.Rand) uint16 {
	// A client's and a server's.
	if random.IntN(2) == 0 {
		return uint16(32768 + random.IntN(28000))
	}
	return uint16(1 + random.IntN(10000))
}

// packet is a whole one; what no filter should be about differs from one to the next.
func (k kind) packet(random *rand.Rand) []byte {
	from, to := privateAddress(random, k.v6), privateAddress(random, k.v6)
	switch {
	case k.own.IsLoopback():
		from, to = k.own, k.own
	case k.own.IsValid() && k.toHere:
		to = k.own
	case k.own.IsValid():
		from = k.own
	}
	hops := []uint8{62, 63, 64, 127, 128, 255}[random.IntN(6)]
	protocol := layers.IPProtocolTCP
	if k.udp {
		protocol = layers.IPProtocolUDP
	}
	var ip interface {
		gopacket.NetworkLayer
		gopacket.SerializableLayer
	}
	if k.v6 {
		ip = &layers.IPv6{Version: 6, HopLimit: hops, NextHeader: protocol, FlowLabel: random.Uint32N(1 << 20), SrcIP: from.AsSlice(), DstIP: to.AsSlice()}
	} else {
		ip = &layers.IPv4{Version: 4, TTL: hops, Protocol: protocol, Id: uint16(random.Uint32()), Flags: layers.IPv4DontFragment, SrcIP: from.AsSlice(), DstIP: to.AsSlice()}
	}
	data := make(gopacket.Payload, k.size+random.IntN(20))
	for at := range data {
		data[at] = byte(random.IntN(256))
	}
	if k.udp {
		udp := &layers.UDP{SrcPort: layers.UDPPort(port(random)), DstPort: layers.UDPPort(port(random))}
		_ = udp.SetNetworkLayerForChecksum(ip)
		return packet(ip, udp, data)
	}
	tcp := &layers.TCP{
		SrcPort: layers.TCPPort(port(random)), DstPort: layers.TCPPort(port(random)), Seq: random.Uint32(), Ack: random.Uint32(), ACK: true, PSH: k.pushed,
		Window: uint16(random.Uint32()),
	}
	_ = tcp.SetNetworkLayerForChecksum(ip)
	return packet(ip, tcp, data)
}

func packet(ip gopacket.SerializableLayer, upper ...gopacket.SerializableLayer) []byte {
	ethernet := &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4}
	if _, v6 := ip.(*layers.IPv6); v6 {
		ethernet.EthernetType = layers.EthernetTypeIPv6
	}
	buffer := gopacket.NewSerializeBuffer()
	all := append([]gopacket.SerializableLayer{ethernet, ip}, upper...)
	if err := gopacket.SerializeLayers(buffer, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, all...); err != nil {
		panic(err)
	}
	return buffer.Bytes()
}
