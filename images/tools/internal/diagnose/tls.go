package diagnose

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"kdebug/tools/internal/probe"
	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/sockets"
)

const maxEndpoints = 5

// tlsSection looks at the certificates of the endpoints that AUTODIAGNOSE_TLS names, within the cluster only.
type tlsSection struct {
	endpoints []probe.Endpoint
	leftOut   int
	seen      []secured
	done      chan struct{}
}

type secured struct {
	part     *rules.Part
	answered bool
}

func (s *tlsSection) begin(look *Look) {
	s.done = make(chan struct{})
	for _, text := range look.Settings.TLS {
		if endpoint, ok := insideCluster(text); ok && len(s.endpoints) < maxEndpoints {
			s.endpoints = append(s.endpoints, endpoint)
		} else {
			s.leftOut++
		}
	}
	s.seen = make([]secured, len(s.endpoints))
	look.network.probe(func() {
		defer close(s.done)
		ctx, cancel := context.WithTimeout(context.Background(), probeTime)
		defer cancel()
		prober := probe.Prober{Names: look.names, Now: time.Now()}
		var all sync.WaitGroup
		for index, endpoint := range s.endpoints {
			all.Go(func() { s.seen[index].part, s.seen[index].answered = prober.Secure(ctx, endpoint) })
		}
		all.Wait()
	})
	// The last of the sections that connect to somebody.
	go func() {
		look.network.probes.Wait()
		look.network.calm <- calm{sockets.Count(), sockets.WatchFailed()}
	}()
}

// insideCluster reads HOST:PORT: a private address, or a name that only the cluster's DNS knows.
func insideCluster(text string) (probe.Endpoint, bool) {
	at := strings.LastIndexByte(text, ':')
	if at < 1 {
		return probe.Endpoint{}, false
	}
	host := strings.ToLower(strings.Trim(text[:at], "[]"))
	port, err := strconv.ParseUint(text[at+1:], 10, 16)
	endpoint := probe.Endpoint{Scheme: "tls", Host: host, Port: uint16(port)}
	if address, notOne := netip.ParseAddr(host); notOne == nil {
		return endpoint, err == nil && probe.MayTry(probe.Place{}, netip.AddrPortFrom(address, uint16(port)))
	}
	isName := host[0] != '-' && strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-") == ""
	isClusters := !strings.Contains(host, ".") || strings.HasSuffix(host, ".svc") || strings.HasSuffix(host, ".cluster.local") || strings.HasSuffix(host, ".internal")
	return endpoint, err == nil && port > 0 && isName && isClusters
}

func (s *tlsSection) end(look *Look) *rules.Part {
	<-s.done
	part := rules.NewPart("tls")
	if len(look.Settings.TLS) == 0 {
		return part.Skip("no endpoints to look at (AUTODIAGNOSE_TLS names them)")
	}
	text := report.Counted(len(s.endpoints), "endpoint")
	for index, seen := range s.seen {
		place := net.JoinHostPort(s.endpoints[index].Host, strconv.Itoa(int(s.endpoints[index].Port)))
		switch {
		case !seen.answered && len(seen.part.Findings) == 0:
			text += "; " + place + " gave no certificate"
		default:
			text += "; " + place + ": " + seen.part.Section.Text
		}
		for _, each := range seen.part.Findings {
			each.Text = place + ": " + each.Text
			part.Add(each)
		}
		for _, line := range seen.part.Lines {
			part.Say("%s: %s", place, line)
		}
	}
	if s.leftOut > 0 {
		text += fmt.Sprintf("; %d left out (not within the cluster, no HOST:PORT, or beyond the fifth)", s.leftOut)
	}
	if len(s.endpoints) == 0 {
		return part.Skip(text)
	}
	part.Section.Text = text
	return part
}
