package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"
)

const (
	connectTimeout = 3 * time.Second
	// lostPacket: the kernel sends the first packet again after a second.
	lostPacket = 900 * time.Millisecond
	// tries to one address, so that some loss shows.
	tries = 5
)

var errRefusedHere = errors.New("not probed")

// dialer connects to nothing that the place refuses, whatever the caller checked before.
func dialer(place Place) *net.Dialer {
	return &net.Dialer{
		Timeout: connectTimeout,
		Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil || place.Refuses(to.Addr()) != "" || checkPort(to.Port()) != nil {
				return errRefusedHere
			}
			return nil
		},
	}
}

// Connect connects to each address and keeps the first connection; the caller closes it. Addresses that the place refuses are said and left
// alone.
func Connect(ctx context.Context, place Place, addresses []netip.Addr, port uint16) (*Result, net.Conn) {
	result := newResult("connect")
	var first net.Conn
	var best netip.AddrPort
	var refused, silent, worked int
	for _, address := range addresses {
		to := netip.AddrPortFrom(address.Unmap(), port)
		if reason := place.Refuses(address); reason != "" {
			result.line("%s is not probed: %s", to, reason)
			continue
		}
		began := time.Now()
		conn, err := dialer(place).DialContext(ctx, "tcp", to.String())
		took := time.Since(began)
		switch {
		case err == nil && first == nil:
			first, best = conn, to
			worked++
			result.line("%s connects in %s", to, milliseconds(took))
		case err == nil:
			conn.Close()
			worked++
			result.line("%s connects in %s", to, milliseconds(took))
		case errors.Is(err, syscall.ECONNREFUSED):
			refused++
			result.line("%s refuses connections (%s)", to, milliseconds(took))
		case address.Is6() && errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
			// A pod without IPv6 asks for such addresses and does not use them.
			result.line("%s is not reachable: the pod has no such network", to)
		default:
			silent++
			result.line("%s: %s after %s", to, why(err), milliseconds(took))
		}
	}
	total := refused + silent + worked
	result.found("endpoint_refused", float64(refused), "%d of %s refuse connections to port %d", refused, count(total, "address"), port)
	result.found("endpoint_silent", float64(silent), "%d of %s do not answer on port %d", silent, count(total, "address"), port)
	result.Section.Text = count(worked, "address") + " of " + count(total, "address") + " connect"
	switch {
	case first != nil:
		again(ctx, result, place, best)
	case total == 0:
		result.Section.State, result.Section.Text = "not-looked-at", "no address to connect to"
	}
	return result, first
}

// again connects a few more times, because one connection shows no loss.
func again(ctx context.Context, result *Result, place Place, to netip.AddrPort) {
	var lost, done int
	var sum, longest time.Duration
	for range tries {
		began := time.Now()
		conn, err := dialer(place).DialContext(ctx, "tcp", to.String())
		took := time.Since(began)
		if err == nil {
			conn.Close()
		}
		done++
		sum, longest = sum+took, max(longest, took)
		if took >= lostPacket || err != nil {
			lost++
		}
		if ctx.Err() != nil {
			break
		}
	}
	average := sum / time.Duration(done)
	result.line("%s again %d times: %s on average, %s at most", to, done, milliseconds(average), milliseconds(longest))
	result.found("connect_loss", float64(lost), "%d of %s to %s took %s at most: packets get lost", lost, count(done, "more connection"), to, milliseconds(longest))
}

// reason is an error's last words, without addresses that stand beside it.
func reason(err error) string {
	var number syscall.Errno
	switch {
	case errors.As(err, &number):
		return number.Error()
	case errors.Is(err, io.EOF):
		return "the connection was closed"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer"
	case errors.Is(err, errRefusedHere):
		return errRefusedHere.Error()
	}
	return err.Error()
}
