// Package sock says which ports a process listens on.
package sock

import (
	"encoding/hex"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kdebug/tools/internal/sockets"
	"kdebug/tools/internal/target"
)

const listening = "0A"

// Listeners are the addresses at which a process listens for TCP, as they can be reached from here: a listener on all addresses
// is given on loopback. Where the process' open files may not be seen, they are all of the pod.
func Listeners(fs target.FS, pid int) []string {
	var addresses []string
	for address := range listeners(fs, pid) {
		addresses = append(addresses, address)
	}
	slices.Sort(addresses)
	return addresses
}

func listeners(fs target.FS, pid int) map[string]bool {
	held, known := inodes(fs, pid)
	found := map[string]bool{}
	for _, table := range []string{"tcp", "tcp6"} {
		text, _ := os.ReadFile(fs.Path(pid, "net", table))
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) < 10 || fields[3] != listening || known && !held[fields[9]] {
				continue
			}
			if address, ok := addressOf(fields[1]); ok {
				found[address] = true
			}
		}
	}
	return found
}

// inodes are the sockets that a process holds.
func inodes(fs target.FS, pid int) (map[string]bool, bool) {
	entries, err := os.ReadDir(fs.Path(pid, "fd"))
	if err != nil {
		return nil, false
	}
	held := map[string]bool{}
	for _, entry := range entries {
		link, _ := os.Readlink(filepath.Join(fs.Path(pid, "fd"), entry.Name()))
		if inode, found := strings.CutPrefix(link, "socket:["); found {
			held[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return held, true
}

// Of are those of the pod's sockets that the target's processes hold; all of them where their open files may not be seen.
func Of(t *target.Target, all []sockets.Socket) []sockets.Socket {
	held := map[string]bool{}
	for _, process := range t.Processes {
		own, known := inodes(t.FS(), process.PID)
		if !known {
			return all
		}
		maps.Copy(held, own)
	}
	var those []sockets.Socket
	for _, each := range all {
		if held[strconv.FormatUint(uint64(each.Inode), 10)] {
			those = append(those, each)
		}
	}
	return those
}

// addressOf reads "0100007F:240D": words of four bytes in the order of the machine, which is little-endian on all of ours.
func addressOf(text string) (string, bool) {
	host, portText, _ := strings.Cut(text, ":")
	port, err := strconv.ParseUint(portText, 16, 16)
	bytes, err2 := hex.DecodeString(host)
	if err != nil || err2 != nil || len(bytes) != 4 && len(bytes) != 16 {
		return "", false
	}
	for at := 0; at < len(bytes); at += 4 {
		bytes[at], bytes[at+1], bytes[at+2], bytes[at+3] = bytes[at+3], bytes[at+2], bytes[at+1], bytes[at]
	}
	address, _ := netip.AddrFromSlice(bytes)
	address = address.Unmap()
	// A listener on all addresses of IPv6 takes IPv4 as well, unless it was told not to.
	if address.IsUnspecified() {
		address = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return net.JoinHostPort(address.String(), strconv.FormatUint(port, 10)), true
}
