package capture

import (
	"math/rand/v2"
	"net"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"golang.org/x/net/bpf"
)

const samples = 64

// broad is whether a filter lets more than half of made-up packets between hosts of private networks pass, of TCP or of UDP: its effect counts,
// not its words.
func broad(program []bpf.RawInstruction) bool {
	instructions, known := bpf.Disassemble(program)
	if !known {
		return true
	}
	machine, err := bpf.NewVM(instructions)
	if err != nil {
		return true
	}
	for _, makes := range []func(*rand.Rand) []byte{tcpPacket, udpPacket} {
		// The same ones each time: whether a filter is taken must not be a matter of luck.
		random := rand.New(rand.NewPCG(1, 2))
		passed := 0
		for range samples {
			if kept, err := machine.Run(makes(random)); err == nil && kept > 0 {
				passed++
			}
		}
		if passed > samples/2 {
			return true
		}
	}
	return false
}

func privateAddress(random *rand.Rand) net.IP {
	bytes := net.IPv4(10, byte(random.IntN(256)), byte(random.IntN(256)), byte(1+random.IntN(254))).To4()
	switch random.IntN(4) {
	case 0:
		bytes[0], bytes[1] = 172, 16+bytes[1]%16
	case 1:
		bytes[0], bytes[1] = 192, 168
	}
	return bytes
}

func port(random *rand.Rand) uint16 {
	// A client's and a server's.
	if random.IntN(2) == 0 {
		return uint16(32768 + random.IntN(28000))
	}
	return uint16(1 + random.IntN(10000))
}

func tcpPacket(random *rand.Rand) []byte {
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP, SrcIP: privateAddress(random), DstIP: privateAddress(random)}
	tcp := &layers.TCP{SrcPort: layers.TCPPort(port(random)), DstPort: layers.TCPPort(port(random)), ACK: true, PSH: true, Window: 500}
	_ = tcp.SetNetworkLayerForChecksum(ip)
	return packet(ip, tcp)
}

func udpPacket(random *rand.Rand) []byte {
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: privateAddress(random), DstIP: privateAddress(random)}
	udp := &layers.UDP{SrcPort: layers.UDPPort(port(random)), DstPort: layers.UDPPort(port(random))}
	_ = udp.SetNetworkLayerForChecksum(ip)
	return packet(ip, udp)
}

func packet(upper ...gopacket.SerializableLayer) []byte {
	all := []gopacket.SerializableLayer{&layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4}}
	all = append(append(all, upper...), gopacket.Payload("0123456789"))
	buffer := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(buffer, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, all...); err != nil {
		panic(err)
	}
	return buffer.Bytes()
}
