package main

import (
	"bufio"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/vishvananda/netlink"

	"kdebug/tools/internal/probe"
)

// findPlace reads the pod's routes and whether the kubelet listens here. What cannot be read counts as the node's own: fewer addresses are
// then probed.
func findPlace() probe.Place {
	place := probe.Place{OnNode: listens("/proc/net/tcp", 10250) || listens("/proc/net/tcp6", 10250)}
	routes, err := netlink.RouteList(nil, netlink.FAMILY_ALL)
	if err != nil {
		place.OnNode = true
		return place
	}
	for _, route := range routes {
		if address, ok := netip.AddrFromSlice(route.Gw); ok {
			place.Gateways = append(place.Gateways, address.Unmap())
		}
		for _, hop := range route.MultiPath {
			if address, ok := netip.AddrFromSlice(hop.Gw); ok {
				place.Gateways = append(place.Gateways, address.Unmap())
			}
		}
	}
	return place
}

// ownAddresses are the pod's, also those on loopback.
func ownAddresses() []netip.Addr {
	found, _ := net.InterfaceAddrs()
	var own []netip.Addr
	for _, each := range found {
		if prefix, err := netip.ParsePrefix(each.String()); err == nil {
			own = append(own, prefix.Addr().Unmap())
		}
	}
	return own
}

// listens reads a table of sockets: local address and state are the second and fourth word, 0A is LISTEN.
func listens(table string, port uint16) bool {
	file, err := os.Open(table)
	if err != nil {
		// tcp6 is not there on a node without IPv6.
		return !os.IsNotExist(err)
	}
	defer file.Close()
	suffix := strings.ToUpper(":" + hex4(port))
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) > 3 && words[3] == "0A" && strings.HasSuffix(words[1], suffix) {
			return true
		}
	}
	return false
}

func hex4(port uint16) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[port>>12], digits[port>>8&15], digits[port>>4&15], digits[port&15]})
}
