package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

// nowhere is a name that each resolver knows by itself (RFC 6761).
const nowhere = "localhost."

// manyStrays: a look of this kind leaves a few, a program that looks up names leaves two with each.
const manyStrays = 20

// Cluster asks the pod's name servers for the API server's own service: what both images do that were told no name. In a pod whose resolver does not
// have the cluster's names (dnsPolicy Default) it asks only whether they answer, and that only within the cluster. Outside a cluster it asks nothing.
// Strays is how many packets of UDP found nobody in the pod before: a name server on its loopback that refuses is a finding only where somebody of the
// pod asks it. Took is the longest lookup; 0 where there was none.
func (n Names) Cluster(ctx context.Context, inCluster bool, strays uint64) (part *rules.Part, took time.Duration) {
	part, some := n.begin()
	settings := fmt.Sprintf("%s, %s, ndots %d", report.Counted(len(n.Servers), "name server"), report.Counted(len(n.Search), "search domain"), n.Ndots)
	part.Section.Text = settings
	zone := n.Zone()
	switch {
	case !some:
		return part, 0
	case zone != "" && inCluster:
		asked := "kubernetes.default." + zone
		_, took = n.askAll(ctx, part, asked+".", "dns_unknown_name")
		n.overTCP(ctx, part)
		part.Section.Text = settings + "; " + part.Section.Text
		return part, took
	case inCluster && n.isNear():
		alive, unused := 0, 0
		servers := n.Servers[:min(len(n.Servers), maxServers)]
		for index, got := range n.askEach(ctx, servers, []string{nowhere}) {
			switch {
			case got.refused && isLoopback(servers[index]) && strays < manyStrays:
				unused++
				part.Say("name server %s, on the pod's own loopback, refuses, and nobody of the pod asks it", servers[index])
				continue
			case got.silent:
				n.findSilent(part, servers[index], got)
				continue
			}
			alive++
			took = max(took, got.took)
		}
		part.Section.Text = fmt.Sprintf("%s; this is not a cluster's DNS, %d of its servers answer", settings, alive)
		if alive == 0 && unused > 0 {
			part.Section.Text += " and nobody asks them"
		}
		return part, took
	}
	if len(part.Findings) > 0 {
		part.Section.Text = settings + "; no lookup, this is not a cluster's DNS"
		return part, 0
	}
	return part.Skip(settings + "; no lookup, this is not a cluster's DNS"), 0
}

// begin makes the part, and says what the settings show already. Some is whether there is a server to ask.
func (n Names) begin() (part *rules.Part, some bool) {
	part = rules.NewPart("dns")
	if len(n.Servers) == 0 {
		part.Find("dns_no_server", 0, "resolv.conf names no name server")
		return part, false
	}
	part.Find("dns_many_servers", float64(len(n.Servers)), "%d name servers; only the first %d are used", len(n.Servers), maxServers)
	return part, true
}

// isNear is whether all servers are within the cluster.
func (n Names) isNear() bool {
	for _, server := range n.Servers {
		if address, err := netip.ParseAddr(server); err != nil || !IsPrivate(address) && !address.IsLinkLocalUnicast() {
			return false
		}
	}
	return true
}

// Lookup asks each server for each search step until one has addresses, as a resolver would, and times each. The addresses are those of
// the first server that has any; IPv4 first. Unknown is the code of the finding when no server knows the name.
func (n Names) Lookup(ctx context.Context, name, unknown string) (*rules.Part, []netip.Addr) {
	result := rules.NewPart("dns")
	if address, err := netip.ParseAddr(name); err == nil {
		return result.Skip("the endpoint is an address"), []netip.Addr{address}
	}
	if addresses := n.Hosts[strings.ToLower(name)]; len(addresses) > 0 {
		result.Say("%s is in /etc/hosts: %s", name, join(addresses))
		result.Section.Text = "from /etc/hosts"
		return result, addresses[:min(len(addresses), maxAddresses)]
	}
	result, some := n.begin()
	if !some {
		return result, nil
	}
	addresses, _ := n.askAll(ctx, result, name, unknown)
	return result, addresses
}

func (n Names) askAll(ctx context.Context, result *rules.Part, name, unknown string) (addresses []netip.Addr, slowest time.Duration) {
	var know, knowNot []string
	silent := 0
	steps := n.Steps(name)
	shown := strings.TrimSuffix(name, ".")
	servers := n.Servers[:min(len(n.Servers), maxServers)]
	for index, got := range n.askEach(ctx, servers, steps) {
		server := servers[index]
		result.Lines = append(result.Lines, got.lines...)
		if !got.silent && !got.failed {
			slowest = max(slowest, got.took)
		}
		switch {
		case got.silent || got.failed:
			silent++
			n.findSilent(result, server, got)
		case len(got.addresses) > 0:
			know = append(know, server)
		default:
			knowNot = append(knowNot, server)
		}
		if len(addresses) == 0 {
			addresses = got.addresses
		}
	}
	if len(know) > 0 && len(knowNot) > 0 {
		result.Find("dns_disagree", 0, "%s knows %s and %s does not", strings.Join(know, ", "), shown, strings.Join(knowNot, ", "))
	}
	if len(know) == 0 && len(knowNot) > 0 {
		result.Find(unknown, 0, "the name %s is not known: %s tried", shown, report.Counted(len(steps), "step"))
	}
	if len(know)+len(knowNot) > 0 {
		result.Find("dns_slow", float64(slowest.Milliseconds()), "looking up %s takes %s", shown, milliseconds(slowest))
	}
	result.Section.Text = fmt.Sprintf("%s of %s from %s in %s", report.Counted(len(addresses), "address"), shown, report.Counted(len(know), "name server"), milliseconds(slowest))
	if silent > 0 {
		result.Section.Text += ", " + report.Counted(silent, "name server") + " silent"
	}
	return addresses, slowest
}

func isLoopback(server string) bool {
	address, err := netip.ParseAddr(server)
	return err == nil && address.IsLoopback()
}

// findSilent says how a server does not answer: nothing listens there, which is another trouble than lost packets; on the pod's own loopback it is
// another again.
func (n Names) findSilent(result *rules.Part, server string, got answer) {
	switch {
	case got.failed && !got.silent:
		result.Find("dns_unanswered", 0, "name server %s answers %s", server, got.code)
	case isLoopback(server):
		how := "does not answer"
		if got.refused {
			how = "refuses: nothing listens there"
		}
		result.Find("dns_loopback", 0, "name server %s, on the pod's own loopback, %s", server, how)
	case got.refused:
		result.Find("dns_refused", 0, "name server %s refuses: nothing listens there", server)
	default:
		result.Find("dns_unanswered", 0, "name server %s does not answer", server)
	}
}

// askEach asks the servers at the same time, so that silent ones take no longer than one.
func (n Names) askEach(ctx context.Context, servers, steps []string) []answer {
	answers := make([]answer, len(servers))
	var all sync.WaitGroup
	for index, server := range servers {
		all.Go(func() { answers[index] = n.ask(ctx, server, steps) })
	}
	all.Wait()
	return answers
}

// ask asks one server for the steps, until one has addresses or no answer; all of the steps make the time.
func (n Names) ask(ctx context.Context, server string, steps []string) (last answer) {
	said := rules.NewPart("dns")
	var took time.Duration
	for _, step := range steps {
		last = n.query(ctx, server, step)
		took += last.took
		words := last.code
		if len(last.addresses) > 0 {
			words = join(last.addresses)
		}
		if last.overTCP {
			words += " (over TCP: too long for UDP)"
		}
		said.Say("%-15s %s  %s  %s", server, step, words, milliseconds(last.took))
		if last.silent || last.failed || len(last.addresses) > 0 {
			break
		}
	}
	last.took, last.lines = took, said.Lines
	return last
}

// overTCP connects to the first server, if it answered: what is too long for UDP is asked again by TCP.
func (n Names) overTCP(ctx context.Context, result *rules.Part) {
	for _, each := range result.Findings {
		if each.Code == "dns_unanswered" || each.Code == "dns_refused" || each.Code == "dns_loopback" {
			return
		}
	}
	server := n.Servers[0]
	conn, err := (&net.Dialer{Timeout: dnsTimeout}).DialContext(ctx, "tcp", net.JoinHostPort(server, n.Port))
	if err == nil {
		conn.Close()
		result.Section.Text += "; by TCP reachable"
		return
	}
	how := why(err)
	if errors.Is(err, syscall.ECONNREFUSED) {
		how = "refused"
	}
	result.Section.Text += "; by TCP " + how
	result.Find("dns_no_tcp", 1, "name server %s answers by UDP only (TCP: %s)", server, how)
}

func join(addresses []netip.Addr) string {
	words := make([]string, len(addresses))
	for index, each := range addresses {
		words[index] = each.String()
	}
	return strings.Join(words, " ")
}
