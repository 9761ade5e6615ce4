package diagnose

import (
	"context"
	"fmt"
	"io"
	"time"

	"kdebug/tools/internal/probe"
	"kdebug/tools/internal/rules"
	"kdebug/tools/internal/sockets"
)

const (
	// probeTime bounds what each of the sections that ask somebody does.
	probeTime    = 4 * time.Second
	maxNamesFile = 64 << 10
)

// dnsSection asks the name servers as the target has them configured. Only a name of the cluster is looked up.
type dnsSection struct {
	names probe.Names
	part  *rules.Part
	took  time.Duration
	known bool
	done  chan struct{}
}

func (s *dnsSection) begin(look *Look) {
	s.done = make(chan struct{})
	config, readable := look.fileOr("etc/resolv.conf")
	hosts, _ := look.fileOr("etc/hosts")
	s.names, s.known = probe.ParseNames(config, hosts), readable
	look.names = s.names
	strays := sockets.Count().Strays
	look.network.probe(func() {
		defer close(s.done)
		ctx, cancel := context.WithTimeout(context.Background(), probeTime)
		defer cancel()
		s.part, s.took = s.names.Cluster(ctx, look.Settings.APIHost != "", strays)
	})
}

func (s *dnsSection) end(look *Look) *rules.Part {
	<-s.done
	if !s.known {
		return rules.NewPart("dns").Blind("there is no resolv.conf to read", "a resolv.conf")
	}
	server := "none"
	if len(s.names.Servers) > 0 {
		server = s.names.Servers[0]
	}
	look.fact("dns", server, "server")
	look.fact("dns", fmt.Sprintf("%d servers, %d search domains, ndots %d", len(s.names.Servers), len(s.names.Search), s.names.Ndots), "settings")
	if s.took > 0 {
		look.amount("latency", s.took.Milliseconds(), "DNS lookup")
	}
	return s.part
}

// fileOr is the beginning of a file of the target, or of our own, which the kubelet writes alike, where the target's cannot be read. The target may have
// put a pipe or a file of any length there.
func (l *Look) fileOr(name string) (content []byte, readable bool) {
	if l.Target != nil && l.Target.Readable {
		if file, err := l.Target.Open(name); err == nil {
			defer file.Close()
			content, err = io.ReadAll(io.LimitReader(file, maxNamesFile))
			if err == nil {
				return content, true
			}
		}
	}
	text := readFile("/" + name)
	return []byte(text), text != "" || isReadable("/"+name)
}

func isReadable(path string) bool {
	file, err := openFile(path)
	if err != nil {
		return false
	}
	file.Close()
	return true
}
