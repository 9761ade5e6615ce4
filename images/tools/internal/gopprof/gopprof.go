// Package gopprof speaks to the net/http/pprof of a Go process, where it listens at its usual path.
package gopprof

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"kdebug/tools/internal/target"
)

// Server is a pprof of the target: its address, which is one of the pod, and the name that it is asked by.
type Server struct {
	address netip.AddrPort
	host    string
}

// String is "127.0.0.1:6060".
func (s Server) String() string { return s.address.String() }

var (
	// ErrNone: no port that a process of the pod listens at answers as this target's pprof.
	ErrNone = errors.New("net/http/pprof at a port of the target: none of its ports answers at /debug/pprof/")
	// errForbidden: a port has an answer, and not for us.
	errForbidden = errors.New("it answered 403")
)

const (
	// maxPorts is how many listening ports are asked.
	maxPorts = 32
	// patience is how long one port is asked whether it is pprof.
	patience = time.Second
	path     = "/debug/pprof/"
)

// Find looks for the target's pprof among the ports that are listened at in the target's network namespace, which is ours: so it needs no
// permission. A port is believed if it knows the target's own arguments: a pod may have several Go processes. Fails with ErrNone, or with words
// that name the port where one refuses.
func Find(ctx context.Context, t *target.Target) (Server, error) {
	return find(ctx, listening(t), strings.Join(t.Command, "\x00"))
}

func find(ctx context.Context, addresses []netip.AddrPort, command string) (Server, error) {
	none := ErrNone
	for _, address := range addresses[:min(len(addresses), maxPorts)] {
		for _, host := range hosts(address) {
			server := Server{address, host}
			asking, cancel := context.WithTimeout(ctx, patience)
			answer, err := server.Get(asking, "cmdline", 64*1024)
			cancel()
			if err == nil && command != "" && strings.TrimRight(string(answer), "\x00") == command {
				return server, nil
			}
			if ctx.Err() != nil {
				return Server{}, ctx.Err()
			}
			if !errors.Is(err, errForbidden) {
				break
			}
			none = fmt.Errorf("net/http/pprof at a port of the target: %s refuses /debug/pprof/ with 403, and no other answers", address)
		}
	}
	return Server{}, none
}

// hosts are the names to ask a port by, one after the other while it answers 403: a server that guards against DNS rebinding, as Caddy's admin,
// knows some of them alone.
func hosts(address netip.AddrPort) []string {
	return []string{address.String(), fmt.Sprintf("localhost:%d", address.Port()), "localhost"}
}

// client follows no redirect, uses no proxy and keeps no connection: it speaks to the pod alone.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true, ResponseHeaderTimeout: 3 * time.Minute},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Get gives a page of pprof, as "goroutine?debug=2"; longer than most bytes, it is an error. A profile takes as long as it says.
func (s Server) Get(ctx context.Context, page string, most int64) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.String()+path+page, nil)
	if err != nil {
		return nil, err
	}
	request.Host = s.host
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode == http.StatusForbidden:
		return nil, errForbidden
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answered %d: %.200s", answer.StatusCode, body)
	case int64(len(body)) > most:
		return nil, fmt.Errorf("it has more than %d bytes", most)
	}
	return body, nil
}

// listening gives the addresses, loopback first: that is where pprof should be.
func listening(t *target.Target) []netip.AddrPort {
	var addresses []netip.AddrPort
	for _, table := range []string{"tcp", "tcp6"} {
		file, err := os.Open(t.FS().Path(t.PID, "net", table))
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(io.LimitReader(file, 16<<20))
		for lines.Scan() {
			if address, ok := listener(lines.Text()); ok && !slices.Contains(addresses, address) {
				addresses = append(addresses, address)
			}
		}
		file.Close()
	}
	slices.SortStableFunc(addresses, func(a, b netip.AddrPort) int {
		switch {
		case a.Addr().IsLoopback() == b.Addr().IsLoopback():
			return 0
		case a.Addr().IsLoopback():
			return -1
		}
		return 1
	})
	return addresses
}

// listener reads a line of /proc/net/tcp or tcp6: the address of a socket that listens, where one that listens at all is asked on loopback.
func listener(line string) (netip.AddrPort, bool) {
	const listen = "0A"
	fields := strings.Fields(line)
	if len(fields) < 4 || fields[3] != listen {
		return netip.AddrPort{}, false
	}
	host, port, _ := strings.Cut(fields[1], ":")
	number, err := strconv.ParseUint(port, 16, 16)
	bytes, err2 := hex.DecodeString(host)
	if err != nil || err2 != nil || len(bytes) != net.IPv4len && len(bytes) != net.IPv6len {
		return netip.AddrPort{}, false
	}
	// Each word of four bytes is in the order of the machine.
	for at := 0; at < len(bytes); at += 4 {
		binary.BigEndian.PutUint32(bytes[at:], binary.NativeEndian.Uint32(bytes[at:]))
	}
	address, _ := netip.AddrFromSlice(bytes)
	switch address = address.Unmap(); {
	case address.IsUnspecified() && address.Is4():
		address = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case address.IsUnspecified():
		address = netip.IPv6Loopback()
	}
	return netip.AddrPortFrom(address, uint16(number)), true
}
