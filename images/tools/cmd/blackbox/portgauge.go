package main

import (
	"math"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"kdebug/tools/internal/sockets"
)

// portGauge is how long a listener of the pod takes to accept a connection. It sends no byte: a program that hangs does not accept, and the kernel shows
// that. It never waits: each step is made when it is asked.
type portGauge struct {
	port   int
	place  netip.AddrPort
	socket int
	began  time.Time
	next   time.Time
	// wasOpen is whether it ever accepted: before that, a program only begins.
	wasOpen   bool
	isRefused bool
	took      time.Duration
}

const (
	// between is how often a connection is tried, and again how soon after one that was refused where connections were accepted before: a program that
	// opens its listener anew refuses for a moment.
	between = 5 * time.Second
	again   = 100 * time.Millisecond
)

func (g *portGauge) read(now time.Time) (float64, bool) {
	if g.socket == 0 {
		if now.Before(g.next) {
			return g.value()
		}
		if g.begin(now) != nil {
			return 0, false
		}
	}
	g.look(now)
	return g.value()
}

func (g *portGauge) value() (float64, bool) {
	if g.isRefused {
		return math.Inf(1), g.wasOpen
	}
	return g.took.Seconds(), true
}

func (g *portGauge) begin(now time.Time) error {
	g.place = placeOf(g.port)
	family, address := addressOf(g.place)
	socket, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	g.next, g.began, g.isRefused, g.took = now.Add(between), now, false, 0
	if err != nil {
		return err
	}
	g.socket = socket
	switch err := unix.Connect(socket, address); err { //nolint:errorlint // It is the kernel's own number.
	case nil, unix.EINPROGRESS:
	case unix.ECONNREFUSED:
		g.end(true)
	default:
		// That no port of our own is left, say, is not the program's doing.
		g.end(false)
		return err
	}
	return nil
}

func addressOf(place netip.AddrPort) (family int, address unix.Sockaddr) {
	if place.Addr().Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(place.Port()), Addr: place.Addr().As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(place.Port()), Addr: place.Addr().As16()}
}

// look sees how far the connection is.
func (g *portGauge) look(now time.Time) {
	if g.socket == 0 {
		return
	}
	if failed, err := unix.GetsockoptInt(g.socket, unix.SOL_SOCKET, unix.SO_ERROR); err != nil || failed != 0 {
		// One that was cut was connected before.
		g.end(failed == int(unix.ECONNREFUSED))
		return
	}
	if ours, open := g.connected(); open {
		if accepted, known := sockets.Accepted(g.place, ours); accepted || !known {
			g.wasOpen = true
			g.end(false)
			return
		}
	}
	// Not where it was accepted meanwhile: for as long as nobody gave us the CPU it may have been accepted already.
	g.took = now.Sub(g.began)
}

// connected is our own place, once the kernel has connected us.
func (g *portGauge) connected() (netip.AddrPort, bool) {
	if _, err := unix.Getpeername(g.socket); err != nil {
		return netip.AddrPort{}, false
	}
	switch name, _ := unix.Getsockname(g.socket); ours := name.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(ours.Addr), uint16(ours.Port)), true
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(ours.Addr), uint16(ours.Port)), true
	}
	return netip.AddrPort{}, false
}

func (g *portGauge) end(isRefused bool) {
	_ = unix.Close(g.socket)
	if g.socket, g.isRefused = 0, isRefused; isRefused && g.wasOpen {
		g.next = g.began.Add(again)
	}
}

func (g *portGauge) words() string {
	if g.isRefused {
		return "it is refused"
	}
	return spanOf(g.took)
}

// placeOf is where a listener of that port is reached from inside the pod.
func placeOf(port int) netip.AddrPort {
	found := netip.IPv4Unspecified()
	_ = sockets.Listeners(func(each sockets.Socket) {
		if int(each.Local.Port()) == port {
			found = each.Local.Addr()
		}
	})
	if found.IsUnspecified() {
		// A listener of both families takes this one too.
		found = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.AddrPortFrom(found, uint16(port))
}
