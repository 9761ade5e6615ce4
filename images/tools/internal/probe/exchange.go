package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	dnsTimeout = 2 * time.Second
	// dnsAgain is when a question is asked once more: one lost packet is no silence.
	dnsAgain   = time.Second
	maxMessage = 64 << 10
)

// codes are the words for what a name server says instead of an address.
var rcodes = map[dnsmessage.RCode]string{
	dnsmessage.RCodeSuccess: "no address", dnsmessage.RCodeFormatError: "FORMERR", dnsmessage.RCodeServerFailure: "SERVFAIL", dnsmessage.RCodeNameError: nxdomain,
	dnsmessage.RCodeNotImplemented: "NOTIMP", dnsmessage.RCodeRefused: "REFUSED",
}

const nxdomain = "NXDOMAIN"

// answer is what one server says of one name.
type answer struct {
	addresses []netip.Addr
	code      string
	took      time.Duration
	// silent: there was no answer. Refused: because nothing listens there.
	silent, refused bool
	// failed: it answered that it cannot answer, as SERVFAIL.
	failed  bool
	overTCP bool
	// lines say for people what each step gave.
	lines []string
}

// query asks for both kinds of address at once, as resolvers do.
func (n Names) query(ctx context.Context, server, name string) answer {
	began := time.Now()
	kinds := []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA}
	answers := make([]chan answer, len(kinds))
	for index, kind := range kinds {
		answers[index] = make(chan answer, 1)
		go func() { answers[index] <- n.exchange(ctx, server, name, kind) }()
	}
	var all answer
	lost := ""
	for _, each := range answers {
		got := <-each
		all.addresses = append(all.addresses, got.addresses...)
		all.overTCP = all.overTCP || got.overTCP
		if got.silent {
			lost, all.refused = got.code, got.refused
		} else {
			all.code, all.failed = got.code, got.failed
		}
	}
	// The address may be in the answer that got lost, unless the other says that there is no such name.
	if lost != "" && len(all.addresses) == 0 && all.code != nxdomain {
		all.silent, all.code = true, lost
	}
	all.addresses = all.addresses[:min(len(all.addresses), maxAddresses)]
	all.took = time.Since(began)
	return all
}

// exchange asks one question, by TCP where the answer is too long for UDP.
func (n Names) exchange(ctx context.Context, server, name string, kind dnsmessage.Type) answer {
	ctx, cancel := context.WithTimeout(ctx, dnsTimeout)
	defer cancel()
	asked, err := dnsmessage.NewName(name)
	if err != nil {
		return answer{code: "no name"}
	}
	//nolint:gosec // It tells late answers from those to this question, of a server that the pod trusts.
	question := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: uint16(rand.Uint32()), RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: asked, Type: kind, Class: dnsmessage.ClassINET}},
	}
	packed, err := question.Pack()
	if err != nil {
		return answer{code: "no name"}
	}
	place := net.JoinHostPort(server, n.Port)
	reply, err := overUDP(ctx, place, packed, question.ID)
	isLong := err == nil && reply.Truncated
	if isLong {
		reply, err = overTCP(ctx, place, packed, question.ID)
	}
	if err != nil {
		return answer{silent: true, refused: errors.Is(err, syscall.ECONNREFUSED), code: why(err)}
	}
	return answerOf(reply, isLong)
}

func answerOf(reply dnsmessage.Message, overTCP bool) answer {
	got := answer{code: rcodes[reply.RCode], overTCP: overTCP, failed: reply.RCode != dnsmessage.RCodeSuccess && reply.RCode != dnsmessage.RCodeNameError}
	if got.code == "" {
		got.code = reply.RCode.String()
	}
	for _, record := range reply.Answers {
		switch body := record.Body.(type) {
		case *dnsmessage.AResource:
			got.addresses = append(got.addresses, netip.AddrFrom4(body.A))
		case *dnsmessage.AAAAResource:
			got.addresses = append(got.addresses, netip.AddrFrom16(body.AAAA).Unmap())
		}
	}
	return got
}

func overUDP(ctx context.Context, place string, question []byte, id uint16) (dnsmessage.Message, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", place)
	if err != nil {
		return dnsmessage.Message{}, err
	}
	defer conn.Close()
	latest, _ := ctx.Deadline()
	buffer := make([]byte, 4096)
	for again := time.Now().Add(dnsAgain); ; again = latest {
		if again.After(latest) {
			again = latest
		}
		_ = conn.SetDeadline(again)
		if _, err = conn.Write(question); err != nil {
			return dnsmessage.Message{}, err
		}
		for {
			var size int
			if size, err = conn.Read(buffer); err != nil {
				break
			}
			var reply dnsmessage.Message
			if reply.Unpack(buffer[:size]) == nil && reply.ID == id && reply.Response {
				return reply, nil
			}
		}
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() || !time.Now().Before(latest) {
			return dnsmessage.Message{}, err
		}
	}
}

func overTCP(ctx context.Context, place string, question []byte, id uint16) (dnsmessage.Message, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", place)
	if err != nil {
		return dnsmessage.Message{}, err
	}
	defer conn.Close()
	latest, _ := ctx.Deadline()
	_ = conn.SetDeadline(latest)
	if _, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(question))), question...)); err != nil {
		return dnsmessage.Message{}, err
	}
	buffer := make([]byte, 2, maxMessage)
	if _, err = io.ReadFull(conn, buffer); err != nil {
		return dnsmessage.Message{}, err
	}
	buffer = buffer[:binary.BigEndian.Uint16(buffer)]
	if _, err = io.ReadFull(conn, buffer); err != nil {
		return dnsmessage.Message{}, err
	}
	var reply dnsmessage.Message
	if err = reply.Unpack(buffer); err == nil && reply.ID != id {
		err = errors.New("an answer to another question")
	}
	return reply, err
}

// why says in a word why an exchange failed.
func why(err error) string {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "no answer"
	}
	return reason(err)
}
