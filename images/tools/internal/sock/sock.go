// Package sock says which ports a process listens on.
package sock

import (
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"kdebug/tools/internal/sockets"
	"kdebug/tools/internal/target"
)

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
		// A node without IPv6 has no second one.
		_ = sockets.List(fs.Path(pid, "net", table), func(socket sockets.Socket) {
			if socket.State != "LISTEN" || known && !held[socket.Inode] {
				return
			}
			address := socket.Local.Addr()
			// A listener on all addresses of IPv6 takes IPv4 as well, unless it was told not to.
			if address.IsUnspecified() {
				address = netip.AddrFrom4([4]byte{127, 0, 0, 1})
			}
			found[netip.AddrPortFrom(address, socket.Local.Port()).String()] = true
		})
	}
	return found
}

// inodes are the sockets that a process holds.
func inodes(fs target.FS, pid int) (map[uint32]bool, bool) {
	entries, err := os.ReadDir(fs.Path(pid, "fd"))
	if err != nil {
		return nil, false
	}
	held := map[uint32]bool{}
	for _, entry := range entries {
		link, _ := os.Readlink(filepath.Join(fs.Path(pid, "fd"), entry.Name()))
		if inode, found := strings.CutPrefix(link, "socket:["); found {
			if number, err := strconv.ParseUint(strings.TrimSuffix(inode, "]"), 10, 32); err == nil {
				held[uint32(number)] = true
			}
		}
	}
	return held, true
}

// Of are those of the pod's sockets that the target's processes hold; all of them where their open files may not be seen.
func Of(t *target.Target, all []sockets.Socket) []sockets.Socket {
	held := map[uint32]bool{}
	for _, process := range t.Processes {
		own, known := inodes(t.FS(), process.PID)
		if !known {
			return all
		}
		maps.Copy(held, own)
	}
	var those []sockets.Socket
	for _, each := range all {
		if held[each.Inode] {
			those = append(those, each)
		}
	}
	return those
}
