package capture

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"golang.org/x/net/bpf"
)

func compiler(t *testing.T) Compiler {
	t.Helper()
	path, err := exec.LookPath("tcpdump")
	if err != nil {
		t.Skip("tcpdump is not installed")
	}
	return Compiler{
		Own:     []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.244.1.7"), netip.MustParseAddr("fd00:1::7")},
		Tcpdump: []string{path}, APIServer: netip.MustParseAddrPort("10.96.0.1:443"), NodePorts: []uint16{10250, 2379},
		Metadata: []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200")},
	}
}

// kept is how many bytes of a packet pass.
func kept(t *testing.T, program []bpf.RawInstruction, data []byte) int {
	t.Helper()
	instructions, known := bpf.Disassemble(program)
	if !known {
		t.Fatal("not every instruction is known")
	}
	machine, err := bpf.NewVM(instructions)
	if err != nil {
		t.Fatal(err)
	}
	size, err := machine.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return size
}

func tcp(from, to string, flags string) []byte {
	source, target := netip.MustParseAddrPort(from), netip.MustParseAddrPort(to)
	upper := &layers.TCP{
		SrcPort: layers.TCPPort(source.Port()), DstPort: layers.TCPPort(target.Port()), Window: 1,
		SYN: strings.Contains(flags, "S"), ACK: strings.Contains(flags, "A"), RST: strings.Contains(flags, "R"),
	}
	if source.Addr().Is6() {
		ip := &layers.IPv6{Version: 6, NextHeader: layers.IPProtocolTCP, HopLimit: 64, SrcIP: source.Addr().AsSlice(), DstIP: target.Addr().AsSlice()}
		_ = upper.SetNetworkLayerForChecksum(ip)
		buffer := gopacket.NewSerializeBuffer()
		_ = gopacket.SerializeLayers(buffer, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
			&layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv6}, ip, upper, gopacket.Payload("data"))
		return buffer.Bytes()
	}
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP, SrcIP: net.IP(source.Addr().AsSlice()), DstIP: net.IP(target.Addr().AsSlice())}
	_ = upper.SetNetworkLayerForChecksum(ip)
	return packet(ip, upper, gopacket.Payload("0123456789"))
}

func TestAFilterLetsPassWhatItNames(t *testing.T) {
	program, err := compiler(t).Compile(t.Context(), "host 10.0.0.5 and port 5432", Snap)
	if err != nil {
		t.Fatal(err)
	}
	if size := kept(t, program, tcp("10.0.0.1:40000", "10.0.0.5:5432", "A")); size != Snap {
		t.Errorf("%d bytes are kept", size)
	}
	if kept(t, program, tcp("10.0.0.1:40000", "10.0.0.6:5432", "A")) != 0 {
		t.Error("another host passes")
	}
}

// What is never captured, whatever stands in the filter: the person's words can neither close our parenthesis nor shift where the kernel looks.
func TestNoFilterReachesWhatIsNeverCaptured(t *testing.T) {
	compiler := compiler(t)
	never := [][]byte{
		tcp("10.0.0.1:40000", "10.96.0.1:443", "A"), tcp("10.96.0.1:443", "10.0.0.1:40000", "A"), tcp("10.0.0.1:40000", "172.18.0.2:6443", "SA"),
		tcp("10.0.0.1:40000", "10.244.0.1:10250", "A"), tcp("10.0.0.1:40000", "10.0.0.7:2379", "A"), tcp("10.0.0.1:40000", "169.254.169.254:80", "A"),
		tcp("169.254.169.254:80", "10.0.0.1:40000", "A"), tcp("10.0.0.1:40000", "100.100.100.200:80", "A"), tcp("[fd00::1]:40000", "[fd00:ec2::254]:80", "A"),
		tcp("[fd00::1]:40000", "[fd00::2]:6443", "A"),
	}
	tried, compiled := 0, 0
	for _, text := range []string{
		"port 40000", "src host 10.0.0.1", "host 10.0.0.1 or host fd00::1", "ip6 and port 40000", "vlan 5 or port 40000", "port 40000 or vlan", "vlan and port 40000",
		"not vlan and port 40000", "mpls 5 or port 40000", "pppoes 5 or port 40000", "(vlan or mpls) or port 40000", "tcp[0:2] = 40000", "ether[34:2] = 40000",
		"ip[20:2] = 0x9c40", "port 40000 or 40001", "tcp[tcpflags] & tcp-ack != 0 and port 40000", "net 10.0.0.0/28", "ip proto 6 and src 10.0.0.1", "len = 64 and port 40000",
		"port 40000) or (port 40000", "port 40000 and (", ")", "port 40000 or not (host 1.1.1.1)", "not not port 40000", "portrange 39000-41000",
	} {
		program, err := compiler.Compile(t.Context(), text, Snap)
		tried++
		if err != nil {
			continue
		}
		compiled++
		for index, data := range never {
			if kept(t, program, data) != 0 {
				t.Errorf("%q lets the packet %d pass", text, index)
			}
		}
	}
	if compiled < 14 {
		t.Errorf("only %d of %d filters are ones at all", compiled, tried)
	}
}

func TestFiltersThatAreRefused(t *testing.T) {
	compiler := compiler(t)
	for text, want := range map[string]string{
		"":                                 "must be a filter",
		"-w /tmp/x":                        "must be a filter",
		" port 80":                         "must be a filter",
		"port 80; id":                      "must be a filter",
		"port 80\nport 81":                 "must be a filter",
		"port `id`":                        "must be a filter",
		strings.Repeat("port 80 or ", 30):  "more than 256",
		"port 80 or":                       "not one that tcpdump knows",
		"gibberish 5 6":                    "not one that tcpdump knows",
		"port 80) or (port 81":             "not one that tcpdump knows",
		"port 6443":                        "never captured",
		"tcp dst port 10250":               "never captured",
		"host 10.96.0.1":                   "the API server",
		"host 169.254.169.254":             "credentials",
		"tcp":                              "most of the pod's traffic",
		"ip or ip6":                        "most of the pod's traffic",
		"udp":                              "most of the pod's traffic",
		"len > 0":                          "most of the pod's traffic",
		"greater 1":                        "most of the pod's traffic",
		"not port 22":                      "most of the pod's traffic",
		"portrange 1-65534":                "most of the pod's traffic",
		"tcp[13] & 16 != 0":                "most of the pod's traffic",
		"host 1.1.1.1 or not host 1.1.1.1": "most of the pod's traffic",
		"net 0.0.0.0/0":                    "most of the pod's traffic",
		"greater 65":                       "most of the pod's traffic",
		"less 200":                         "most of the pod's traffic",
		"ip6":                              "most of the pod's traffic",
		"tcp[13] & 8 == 0":                 "most of the pod's traffic",
		"ip[8] != 64":                      "most of the pod's traffic",
		"ip[4:2] != 0":                     "most of the pod's traffic",
		"tcp[14:2] != 500":                 "most of the pod's traffic",
		"host 10.244.1.7":                  "most of the pod's traffic",
		"src host 10.244.1.7":              "most of the pod's traffic",
		"net 10.244.0.0/16":                "most of the pod's traffic",
		"host 127.0.0.1":                   "most of the pod's traffic",
		"dst fd00:1::7":                    "most of the pod's traffic",
	} {
		if _, err := compiler.Compile(t.Context(), text, Snap); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"tcp[tcpflags] & (tcp-rst|tcp-syn) != 0", "icmp", "arp", "host 10.1.2.3", "port 53", "udp port 53 and host 169.254.20.10", "port http", "host 127.0.0.1 and port 8080", "host 10.244.1.7 and host 10.1.2.3", "src 10.244.1.7 and tcp port 5432", "tcp[20:4] = 0x47455420", "ip6 host fd00:1::9", "(port 80 or port 443) and net 10.1.2.0/24"} {
		if _, err := compiler.Compile(t.Context(), text, Snap); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestMadeUpPacketsAreWhole(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		for _, each := range kinds(compiler(t).Own) {
			decoded := gopacket.NewPacket(each.packet(random), layers.LayerTypeEthernet, gopacket.Default)
			// What stands in the data is random, and may begin like another protocol.
			if decoded.NetworkLayer() == nil || decoded.TransportLayer() == nil {
				t.Fatal(decoded)
			}
		}
	}
}
