package probe

import (
	"fmt"
	"net/netip"
	"slices"
)

// nodePorts belong to the node's and the cluster's own components, on any address: no workload listens there.
var nodePorts = map[uint16]string{
	2379: "etcd", 2380: "etcd", 10248: "the kubelet", 10249: "kube-proxy", 10250: "the kubelet", 10255: "the kubelet", 10256: "kube-proxy",
	10257: "the controller manager", 10259: "the scheduler",
}

func checkPort(port uint16) error {
	if owner, taken := nodePorts[port]; taken {
		return fmt.Errorf("port %d belongs to %s and is not probed", port, owner)
	}
	return nil
}

// NodePorts are the ports that no probe and no capture touches.
func NodePorts() []uint16 {
	ports := make([]uint16, 0, len(nodePorts))
	for port := range nodePorts {
		ports = append(ports, port)
	}
	return ports
}

// Metadata are addresses at which a cloud hands out credentials, beside 169.254.169.254, which is link-local.
var Metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),   // AWS
	netip.MustParseAddr("fd20:ce::254"),    // Google
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("168.63.129.16"),   // Azure
	netip.MustParseAddr("192.0.0.192"),     // Oracle
}

// Networks whose addresses hold an IPv4 address that is reached through a translator, and which of the 16 bytes may be it.
var translated = []struct {
	network netip.Prefix
	places  [][4]int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), [][4]int{{12, 13, 14, 15}}},
	// Each site chooses the length of its prefix in here (RFC 8215): /48, /56, /64 or /96 (RFC 6052, 2.2).
	{netip.MustParsePrefix("64:ff9b:1::/48"), [][4]int{{6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}, {12, 13, 14, 15}}},
	{netip.MustParsePrefix("2002::/16"), [][4]int{{2, 3, 4, 5}}},
	{netip.MustParsePrefix("::/96"), [][4]int{{12, 13, 14, 15}}},
}

var reserved = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("240.0.0.0/4")}

// Place is what the pod's network tells about addresses of its node.
type Place struct {
	// Gateways are next hops of the pod's routes: mostly an address of the node itself.
	Gateways []netip.Addr
	// OnNode is true where the pod has the node's own network (hostNetwork): its loopback is then the node's.
	OnNode bool
}

// Refuses says why an address is not probed; "" if it may be. Somebody who may only look must not reach the cloud's credentials or
// the node through the pod.
func (p Place) Refuses(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	switch {
	case address.IsLinkLocalUnicast():
		return "a link-local address, where clouds hand out credentials"
	case address.IsMulticast() || address.IsUnspecified() || !address.IsValid():
		return "not the address of one host"
	case address.IsLoopback():
		if p.OnNode {
			return "the node's own loopback: the pod has the node's network"
		}
		return ""
	}
	for _, each := range Metadata {
		if address == each {
			return "a cloud's metadata service"
		}
	}
	for _, each := range reserved {
		if each.Contains(address) {
			return "a reserved address"
		}
	}
	for _, each := range p.Gateways {
		if address == each.Unmap() {
			return "the pod's gateway, an address of the node"
		}
	}
	for _, each := range translated {
		if each.network.Contains(address) {
			return p.refusesAny(address.As16(), each.places)
		}
	}
	return ""
}

// refusesAny is Refuses for the IPv4 addresses that an address may hold. Bytes that are no address of one host are something else, if there is
// another place.
func (p Place) refusesAny(bytes [16]byte, places [][4]int) string {
	reason, sound := "", false
	for _, at := range places {
		inner := netip.AddrFrom4([4]byte{bytes[at[0]], bytes[at[1]], bytes[at[2]], bytes[at[3]]})
		refused := p.Refuses(inner)
		if isHost(inner) && refused != "" {
			return refused
		}
		reason, sound = refused, sound || isHost(inner)
	}
	if sound {
		return ""
	}
	return reason
}

func isHost(address netip.Addr) bool {
	return !address.IsMulticast() && !slices.ContainsFunc(reserved, func(each netip.Prefix) bool { return each.Contains(address) })
}

// carrierGrade is shared address space (RFC 6598): the pods and Services of some clusters.
var carrierGrade = netip.MustParsePrefix("100.64.0.0/10")

// IsPrivate is whether an address is one of those that clusters and their networks have for themselves.
func IsPrivate(address netip.Addr) bool {
	address = address.Unmap()
	return address.IsPrivate() || address.IsLoopback() || carrierGrade.Contains(address)
}

// Check refuses an endpoint that is an address which is not probed. A name is looked at again for each address that it has.
func (p Place) Check(endpoint Endpoint) error {
	if address, err := netip.ParseAddr(endpoint.Host); err == nil {
		if reason := p.Refuses(address); reason != "" {
			return fmt.Errorf("%s is not probed: %s", address, reason)
		}
	}
	return checkPort(endpoint.Port)
}
