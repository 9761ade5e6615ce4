package sockets

import (
	"errors"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// The kernel tells whoever listens to these groups of each TCP socket that is over (SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY). It takes
	// no right.
	overGroups = 1<<0 | 1<<2
	// watchStep is how often a watch looks whether it should end, and how long it then still waits: the kernel tells it a moment later.
	watchStep = 100 * time.Millisecond
	maxNamed  = 100
)

// Watch sees to whom attempts to connect fail: the kernel's counters do not say.
type Watch struct {
	stop atomic.Bool
	done chan map[netip.AddrPort]int
}

// WatchFailed begins to watch. Where the kernel does not tell, nobody is named.
func WatchFailed() *Watch {
	watch := &Watch{done: make(chan map[netip.AddrPort]int, 1)}
	socket, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, netlinkSockDiag)
	if err != nil {
		watch.done <- nil
		return watch
	}
	step := syscall.NsecToTimeval(int64(watchStep))
	err = errors.Join(
		syscall.SetsockoptTimeval(socket, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &step),
		syscall.Bind(socket, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK, Groups: overGroups}),
	)
	if err != nil {
		syscall.Close(socket)
		watch.done <- nil
		return watch
	}
	go watch.read(socket)
	return watch
}

// Stop ends the watch and says how often a connection to each peer was not made.
func (w *Watch) Stop() map[netip.AddrPort]int {
	w.stop.Store(true)
	return <-w.done
}

func (w *Watch) read(socket int) {
	defer syscall.Close(socket)
	failed := map[netip.AddrPort]int{}
	buffer := make([]byte, diagBuffer)
	var latest time.Time
	for latest.IsZero() || time.Now().Before(latest) {
		if latest.IsZero() && w.stop.Load() {
			latest = time.Now().Add(watchStep)
		}
		size, _, err := syscall.Recvfrom(socket, buffer, 0)
		// ENOBUFS: more than we can read are over; those we see are enough.
		if err != nil && !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR) && !errors.Is(err, syscall.ENOBUFS) {
			break
		}
		if err != nil {
			continue
		}
		_, _ = messages(buffer[:size], func(over Socket) {
			if over.State != "CLOSE" || over.BytesSent+over.BytesReceived > 0 || over.wasOpen || over.Peer.Port() == 0 {
				return
			}
			if _, known := failed[over.Peer]; known || len(failed) < maxNamed {
				failed[over.Peer]++
			}
		})
	}
	w.done <- failed
}
