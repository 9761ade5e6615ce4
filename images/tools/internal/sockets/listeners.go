package sockets

import (
	"net/netip"
	"syscall"
)

const stateListen = 10

// Listeners calls take with the listening sockets alone of the network that this process is in: a pod with very many connections costs no more.
func Listeners(take func(Socket)) error {
	for _, family := range []uint8{syscall.AF_INET, syscall.AF_INET6} {
		request := requestOf(family, syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
		native.PutUint32(request[20:], 1<<stateListen)
		if err := ask(request, take); err != nil && family == syscall.AF_INET {
			return Each(func(each Socket) {
				if each.State == "LISTEN" {
					take(each)
				}
			})
		}
	}
	return nil
}

// Accepted is whether a program has taken a connection between two places of this network from the queue of its listener: until then no process holds
// the listener's side. Known is false where the kernel does not tell.
func Accepted(listener, client netip.AddrPort) (accepted, known bool) {
	family := uint8(syscall.AF_INET)
	if listener.Addr().Is6() {
		family = syscall.AF_INET6
	}
	request := requestOf(family, syscall.NLM_F_REQUEST|syscall.NLM_F_ACK)
	id := request[24:]
	put := func(at int, place netip.AddrPort) {
		id[at*2], id[at*2+1] = byte(place.Port()>>8), byte(place.Port())
		copy(id[4+at*16:], place.Addr().AsSlice())
	}
	put(0, listener)
	put(1, client)
	for at := 40; at < 48; at++ {
		id[at] = 0xff // no cookie: INET_DIAG_NOCOOKIE
	}
	err := ask(request, func(each Socket) {
		// One that was closed again was accepted before.
		isOpen := each.State == "ESTAB" || each.State == "SYN-RECV"
		accepted, known = each.Inode != 0 || !isOpen, true
	})
	return accepted, known && err == nil
}
