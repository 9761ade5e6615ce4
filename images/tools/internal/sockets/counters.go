package sockets

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// Counters are what the kernel counts for the whole pod since it began, or between two readings (Since).
type Counters struct {
	SegmentsOut, SegmentsAgain, ListenOverflows uint64
	// Opened are the connections that the pod began, Failed those of them that were refused or led nowhere, Reset those that were cut while they worked.
	Opened, Failed, Reset uint64
	// Cut are those that a program of the pod cut itself, on purpose (SO_LINGER of 0), as a load balancer ends its checks. Where the other end is in the
	// pod as well, each is two of the Reset.
	Cut uint64
	// SixOut are packets of IPv6, and Strays those of UDP that reached the pod at a port where nobody listens.
	SixOut, Strays uint64
}

// Count reads the counters; those that cannot be read are 0.
func Count() Counters {
	snmp, netstat := table("/proc/self/net/snmp", "Tcp:"), table("/proc/self/net/netstat", "TcpExt:")
	read := Counters{
		SegmentsOut: snmp["OutSegs"], SegmentsAgain: snmp["RetransSegs"], ListenOverflows: netstat["ListenOverflows"],
		Opened: snmp["ActiveOpens"], Reset: snmp["EstabResets"], SixOut: column("/proc/self/net/snmp6", "Ip6OutRequests"),
		Cut:    netstat["TCPAbortOnData"],
		Strays: table("/proc/self/net/snmp", "Udp:")["NoPorts"] + column("/proc/self/net/snmp6", "Udp6NoPorts"),
	}
	// Those of others are among the failed ones: half a connection to this pod that was given up, as a load balancer's check does.
	read.Failed = snmp["AttemptFails"] - min(snmp["AttemptFails"], netstat["EmbryonicRsts"])
	return read
}

// Since is what was counted from another reading on.
func (c Counters) Since(before Counters) Counters {
	less := func(now, then uint64) uint64 { return now - min(now, then) }
	return Counters{
		SegmentsOut: less(c.SegmentsOut, before.SegmentsOut), SegmentsAgain: less(c.SegmentsAgain, before.SegmentsAgain),
		ListenOverflows: less(c.ListenOverflows, before.ListenOverflows), Opened: less(c.Opened, before.Opened), Failed: less(c.Failed, before.Failed),
		Reset: less(c.Reset, before.Reset), Cut: less(c.Cut, before.Cut), SixOut: less(c.SixOut, before.SixOut), Strays: less(c.Strays, before.Strays),
	}
}

// refused are the attempts that failed in earnest. A client that is told "localhost" tries ::1 first, is refused, and goes on at 127.0.0.1: then half of
// the attempts fail at most, and each sends two packets of IPv6, its own and the refusal.
func (c Counters) refused() uint64 {
	if 2*c.Failed > c.Opened {
		return c.Failed
	}
	return c.Failed - min(c.Failed, (c.SixOut+1)/2)
}

// reset are the connections that were cut while they worked, without those that a program of the pod cut itself.
func (c Counters) reset() uint64 { return c.Reset - min(c.Reset, 2*c.Cut) }

// table reads the pair of lines, names and values, that begin with a word.
func table(path, word string) map[string]uint64 {
	values := map[string]uint64{}
	file, err := os.Open(path)
	if err != nil {
		return values
	}
	defer file.Close()
	var names []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] != word {
			continue
		}
		if names == nil {
			names = words
			continue
		}
		for index := 1; index < min(len(words), len(names)); index++ {
			values[names[index]], _ = strconv.ParseUint(words[index], 10, 64)
		}
		return values
	}
	return values
}

// column reads one of a file's lines of a name and a number.
func column(path, name string) uint64 {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 2 && words[0] == name {
			value, _ := strconv.ParseUint(words[1], 10, 64)
			return value
		}
	}
	return 0
}

// Limits are what the kernel allows the pod. What cannot be read is 0.
type Limits struct {
	// FirstPort to LastPort are the local ports of connections that the pod begins.
	FirstPort, LastPort int
	// Tracked connections of TrackedMost that the node's table holds.
	Tracked, TrackedMost int
}

// ReadLimits reads them.
func ReadLimits() Limits {
	// One reading each: /proc/sys gives only the first.
	numbers := func(path string) []int {
		text, _ := os.ReadFile(path)
		var all []int
		for _, word := range strings.Fields(string(text)) {
			value, _ := strconv.Atoi(word)
			all = append(all, value)
		}
		return append(all, 0, 0)
	}
	ports := numbers("/proc/sys/net/ipv4/ip_local_port_range")
	return Limits{
		FirstPort: ports[0], LastPort: ports[1],
		Tracked: numbers("/proc/sys/net/netfilter/nf_conntrack_count")[0], TrackedMost: numbers("/proc/sys/net/netfilter/nf_conntrack_max")[0],
	}
}
