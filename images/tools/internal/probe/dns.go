package probe

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/miekg/dns"

	"kdebug/tools/internal/rules"
)

const (
	// MAXNS and MAXDNSRCH of a resolver (resolv.conf(5)); more search steps than a policy allows cost only time.
	maxServers   = 3
	maxSteps     = 8
	maxAddresses = 8
	dnsTimeout   = 2 * time.Second
)

// Names is what the pod's resolver is told.
type Names struct {
	Servers []string
	// Steps gives the names that a resolver tries, in its order.
	Steps func(name string) []string
	// Hosts has the lines of /etc/hosts.
	Hosts map[string][]netip.Addr
	// Port is 53.
	Port string
}

// ReadNames reads resolv.conf and hosts. A hosts file that is not there holds nothing.
func ReadNames(resolvConf, hosts string) (Names, error) {
	config, err := dns.ClientConfigFromFile(resolvConf)
	if err != nil {
		return Names{}, err
	}
	names := Names{Servers: config.Servers, Steps: config.NameList, Hosts: map[string][]netip.Addr{}, Port: config.Port}
	file, err := os.Open(hosts)
	if err != nil {
		return names, nil
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) < 2 {
			continue
		}
		if address, err := netip.ParseAddr(words[0]); err == nil {
			for _, name := range words[1:] {
				names.Hosts[strings.ToLower(name)] = append(names.Hosts[strings.ToLower(name)], address)
			}
		}
	}
	return names, nil
}

// answer is what one server says of one name.
type answer struct {
	addresses []netip.Addr
	code      string
	took      time.Duration
	silent    bool
	overTCP   bool
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
	if len(n.Servers) == 0 {
		result.Find("dns_no_server", 0, "resolv.conf names no name server")
		return result, nil
	}
	if len(n.Servers) > maxServers {
		result.Find("dns_many_servers", float64(len(n.Servers)), "%d name servers; only the first %d are used", len(n.Servers), maxServers)
	}
	return result, n.askAll(ctx, result, name, unknown)
}

func (n Names) askAll(ctx context.Context, result *rules.Part, name, unknown string) []netip.Addr {
	var addresses []netip.Addr
	var know, knowNot, silent []string
	var slowest time.Duration
	steps := n.Steps(name)
	steps = steps[:min(len(steps), maxSteps)]
	for _, server := range n.Servers[:min(len(n.Servers), maxServers)] {
		found, took, answered := n.ask(ctx, result, server, steps)
		switch {
		case !answered:
			silent = append(silent, server)
			result.Find("dns_unanswered", 0, "name server %s does not answer", server)
		case len(found) > 0:
			know = append(know, server)
			slowest = max(slowest, took)
		default:
			knowNot = append(knowNot, server)
			slowest = max(slowest, took)
		}
		if len(addresses) == 0 {
			addresses = found
		}
	}
	if len(know) > 0 && len(knowNot) > 0 {
		result.Find("dns_disagree", 0, "%s knows %s and %s does not", strings.Join(know, ", "), name, strings.Join(knowNot, ", "))
	}
	if len(know) == 0 && len(knowNot) > 0 {
		result.Find(unknown, 0, "the name %s is not known: %s tried", name, count(len(steps), "step"))
	}
	result.Find("dns_slow", float64(slowest.Milliseconds()), "looking up %s takes %s", name, milliseconds(slowest))
	result.Section.Text = count(len(addresses), "address") + " from " + count(len(know), "name server") + " in " + milliseconds(slowest)
	if len(silent) > 0 {
		result.Section.Text += ", " + count(len(silent), "name server") + " silent"
	}
	return addresses
}

// ask asks one server for the steps, until one has addresses or no answer; all of the steps make the time.
func (n Names) ask(ctx context.Context, result *rules.Part, server string, steps []string) (addresses []netip.Addr, took time.Duration, answered bool) {
	for _, step := range steps {
		got := n.query(ctx, server, step)
		took += got.took
		words := got.code
		if len(got.addresses) > 0 {
			words = join(got.addresses)
		}
		if got.overTCP {
			words += " (over TCP: too long for UDP)"
		}
		result.Say("%-15s %s  %s  %s", server, step, words, milliseconds(got.took))
		if got.silent || len(got.addresses) > 0 {
			return got.addresses, took, !got.silent
		}
	}
	return nil, took, len(steps) > 0
}

// query asks for both kinds of address at once, as resolvers do.
func (n Names) query(ctx context.Context, server, name string) answer {
	began := time.Now()
	kinds := []uint16{dns.TypeA, dns.TypeAAAA}
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
			lost = got.code
		} else {
			all.code = got.code
		}
	}
	// The address may be in the answer that got lost, unless the other says that there is no such name.
	if lost != "" && len(all.addresses) == 0 && all.code != "NXDOMAIN" {
		all.silent, all.code = true, lost
	}
	all.addresses = all.addresses[:min(len(all.addresses), maxAddresses)]
	all.took = time.Since(began)
	return all
}

func (n Names) exchange(ctx context.Context, server, name string, kind uint16) answer {
	place := net.JoinHostPort(server, n.Port)
	question := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	reply, _, err := (&dns.Client{Timeout: dnsTimeout}).ExchangeContext(ctx, question, place)
	overTCP := err == nil && reply.Truncated
	if overTCP {
		reply, _, err = (&dns.Client{Net: "tcp", Timeout: dnsTimeout}).ExchangeContext(ctx, question, place)
	}
	if err != nil {
		return answer{silent: true, code: why(err)}
	}
	got := answer{code: dns.RcodeToString[reply.Rcode], overTCP: overTCP}
	if got.code == "NOERROR" {
		got.code = "no address"
	}
	for _, record := range reply.Answer {
		var bytes net.IP
		switch record := record.(type) {
		case *dns.A:
			bytes = record.A
		case *dns.AAAA:
			bytes = record.AAAA
		}
		if address, ok := netip.AddrFromSlice(bytes); ok {
			got.addresses = append(got.addresses, address.Unmap())
		}
	}
	return got
}

func join(addresses []netip.Addr) string {
	words := make([]string, len(addresses))
	for index, each := range addresses {
		words[index] = each.String()
	}
	return strings.Join(words, " ")
}

// why says in a word why an exchange failed.
func why(err error) string {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "no answer"
	}
	return reason(err)
}
