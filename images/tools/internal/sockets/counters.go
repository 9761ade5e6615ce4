package sockets

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// Counters are what the kernel counts for the whole pod since it began.
type Counters struct {
	SegmentsOut, SegmentsAgain, ListenOverflows uint64
}

// Count reads the counters; those that cannot be read are 0.
func Count() Counters {
	snmp, netstat := table("/proc/net/snmp", "Tcp:"), table("/proc/net/netstat", "TcpExt:")
	return Counters{SegmentsOut: snmp["OutSegs"], SegmentsAgain: snmp["RetransSegs"], ListenOverflows: netstat["ListenOverflows"]}
}

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
