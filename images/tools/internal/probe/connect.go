package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
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

// connected is a connection, how to make it again, and why others were not tried.
type connected struct {
	conn     net.Conn
	to       netip.AddrPort
	untested string
}

// connect connects to each address and keeps the first connection; the caller closes it. Addresses that the place refuses are said and left
// alone.
func connect(ctx context.Context, place Place, addresses []netip.Addr, port uint16) (*rules.Part, connected) {
	result := rules.NewPart("connect")
	var kept connected
	var refused, silent, worked, apart int
	for _, address := range addresses {
		to := netip.AddrPortFrom(address.Unmap(), port)
		if reason := place.Refuses(address); reason != "" {
			kept.untested = address.String() + " is not probed: " + reason
			result.Say("%s", kept.untested)
			continue
		}
		began := time.Now()
		conn, err := dialer(place).DialContext(ctx, "tcp", to.String())
		took := milliseconds(time.Since(began))
		switch {
		case err == nil:
			worked++
			result.Say("%s connects in %s", to, took)
			if kept.conn == nil {
				kept.conn, kept.to = conn, to
			} else {
				conn.Close()
			}
		case errors.Is(err, syscall.ECONNREFUSED):
			refused++
			result.Say("%s refuses connections (%s)", to, took)
		case address.Is6() && errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
			// A pod without IPv6 asks for such addresses and does not use them, where there are others.
			apart++
			result.Say("%s is not reachable: the pod has no such network", to)
		default:
			silent++
			result.Say("%s: %s after %s", to, why(err), took)
		}
	}
	total := refused + silent + worked
	result.Find("endpoint_refused", float64(refused), "%s", share(refused, total, "refuses", "refuse", "connections to port", port))
	result.Find("endpoint_silent", float64(silent), "%s", share(silent, total, "does not", "do not", "answer on port", port))
	result.Section.Text = fmt.Sprintf("%d of %s connect", worked, report.Counted(total, "address"))
	if total == 0 && apart > 0 && kept.untested == "" {
		result.Find("endpoint_silent", float64(apart), "the pod has no network for %s", report.Counted(apart, "address"))
		result.Section.Text = fmt.Sprintf("0 of %s connect", report.Counted(apart, "address"))
	} else if total == 0 {
		result.Skip("no address to connect to")
		if kept.untested != "" {
			result.Skip(kept.untested)
		}
	}
	return result, kept
}

// share is "the address refuses connections to port 80", or "2 of 3 addresses refuse connections to port 80".
func share(some, total int, one, many, rest string, port uint16) string {
	if total == 1 {
		return fmt.Sprintf("the address %s %s %d", one, rest, port)
	}
	if some == 1 {
		many = one
	}
	return fmt.Sprintf("%d of %d addresses %s %s %d", some, total, many, rest, port)
}

// again connects a few more times, because one connection shows no loss.
func again(ctx context.Context, result *rules.Part, place Place, to netip.AddrPort) {
	var lost, done int
	var sum, longest time.Duration
	for range tries {
		began := time.Now()
		conn, err := dialer(place).DialContext(ctx, "tcp", to.String())
		took := time.Since(began)
		if err == nil {
			conn.Close()
		} else if ctx.Err() != nil {
			break
		}
		done++
		sum, longest = sum+took, max(longest, took)
		if took >= lostPacket || err != nil {
			lost++
		}
	}
	if done == 0 {
		return
	}
	average := sum / time.Duration(done)
	result.Say("%s again %d times: %s on average, %s at most", to, done, milliseconds(average), milliseconds(longest))
	result.Find("connect_loss", float64(lost), "%d of %s to %s took %s at most: packets get lost", lost, report.Counted(done, "more connection"), to, milliseconds(longest))
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
