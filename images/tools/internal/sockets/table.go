package sockets

import (
	"fmt"
	"strings"
)

// Table is every socket on a line, for a file: at most most of them.
func Table(all []Socket, most int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%-11s %8s %8s  %-25s %-25s %9s %6s %6s\n", "state", "waiting", "unsent", "local", "peer", "rtt", "again", "total")
	for _, each := range all[:min(len(all), most)] {
		room, rtt := fmt.Sprint(each.Unsent), "-"
		if each.State == "LISTEN" {
			room = "of " + fmt.Sprint(each.Room)
		}
		if each.RTT > 0 {
			rtt = fmt.Sprintf("%.1fms", float64(each.RTT.Microseconds())/1000)
		}
		fmt.Fprintf(&text, "%-11s %8d %8s  %-25s %-25s %9s %6d %6d\n", each.State, each.Waiting, room, each.Local, each.Peer, rtt, each.Retransmits, each.Retransmitted)
	}
	if len(all) > most {
		fmt.Fprintf(&text, "and %d more\n", len(all)-most)
	}
	return text.String()
}
