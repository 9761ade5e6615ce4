package probe

import (
	"bufio"
	"bytes"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"
)

const (
	// MAXNS and the most ndots of a resolver (resolv.conf(5)); more search steps than a policy allows cost only time.
	maxServers   = 3
	maxNdots     = 15
	maxSteps     = 8
	maxAddresses = 8
	maxName      = 253
	// A target chooses how long its files are.
	maxResolvConf, maxHosts = 16 << 10, 1 << 20
)

// Names is what the pod's resolver is told.
type Names struct {
	// Servers are the addresses of the name servers; what is no address is left out.
	Servers []string
	// Search are the domains that are tried behind a name with fewer than Ndots dots.
	Search []string
	Ndots  int
	// Hosts has the lines of /etc/hosts.
	Hosts map[string][]netip.Addr
	// Port is 53.
	Port string
}

// ReadNames reads resolv.conf and hosts, up to a limit. A hosts file that is not there holds nothing.
func ReadNames(resolvConf, hosts string) (Names, error) {
	config, err := readStart(resolvConf, maxResolvConf)
	if err != nil {
		return Names{}, err
	}
	known, _ := readStart(hosts, maxHosts)
	return ParseNames(config, known), nil
}

// readStart does not wait for the writer of a pipe.
func readStart(path string, most int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, os.ErrInvalid
	}
	return io.ReadAll(io.LimitReader(file, most))
}

// ParseNames reads the text of both files as resolv.conf(5) and hosts(5) say.
func ParseNames(resolvConf, hosts []byte) Names {
	names := Names{Ndots: 1, Port: "53", Hosts: map[string][]netip.Addr{}}
	for words := range wordsOf(resolvConf, ";#") {
		switch words[0] {
		case "nameserver":
			if address, err := netip.ParseAddr(words[1]); err == nil {
				names.Servers = append(names.Servers, address.String())
			}
		case "domain", "search":
			names.Search = words[1:]
		case "options":
			for _, each := range words[1:] {
				if text, found := strings.CutPrefix(each, "ndots:"); found {
					if dots, err := strconv.Atoi(text); err == nil && dots >= 0 {
						names.Ndots = min(dots, maxNdots)
					}
				}
			}
		}
	}
	for words := range wordsOf(hosts, "#") {
		if address, err := netip.ParseAddr(words[0]); err == nil {
			for _, name := range words[1:] {
				names.Hosts[strings.ToLower(name)] = append(names.Hosts[strings.ToLower(name)], address)
			}
		}
	}
	return names
}

// wordsOf gives the lines of two words and more, without what stands behind a mark of a comment.
func wordsOf(text []byte, comments string) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			line := lines.Text()
			if at := strings.IndexAny(line, comments); at >= 0 {
				line = line[:at]
			}
			if words := strings.Fields(line); len(words) > 1 && !yield(words) {
				return
			}
		}
	}
}

// Steps are the names that a resolver tries for one, in its order, with the dot at their end.
func (n Names) Steps(name string) []string {
	if strings.HasSuffix(name, ".") {
		return []string{name}
	}
	var steps []string
	for _, domain := range n.Search {
		if step := name + "." + strings.TrimSuffix(domain, ".") + "."; len(step) <= maxName+1 {
			steps = append(steps, step)
		}
	}
	if strings.Count(name, ".") >= n.Ndots {
		steps = append([]string{name + "."}, steps...)
	} else {
		steps = append(steps, name+".")
	}
	return steps[:min(len(steps), maxSteps)]
}

// Zone is the cluster's own, as "svc.cluster.local": the search domain that begins with svc. "" where the pod has none, as with dnsPolicy Default.
func (n Names) Zone() string {
	for _, domain := range n.Search {
		if strings.HasPrefix(domain, "svc.") && strings.Trim(domain, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") == "" {
			return strings.TrimSuffix(domain, ".")
		}
	}
	return ""
}
