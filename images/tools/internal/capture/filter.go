// Package capture records packets of the pod that a filter wants, in a pcap file, and sums them up. It needs CAP_NET_RAW, and nothing else:
// tcpdump only compiles the filter; the packets are read, and looked into, here.
package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/bpf"
)

const (
	maxFilter      = 256
	compileTimeout = 5 * time.Second
)

var filterForm = regexp.MustCompile(`^[A-Za-z0-9(!][A-Za-z0-9 _.:/()!<>=&|+*^%\[\]-]*$`)

// Compiler makes a kernel's filter of words.
type Compiler struct {
	// Tcpdump is the command that compiles: the program, and what stands before its own arguments.
	Tcpdump []string
	// APIServer is the address of the cluster's API server as pods know it; not valid where they do not.
	APIServer netip.AddrPort
	// Own are the pod's addresses, also on loopback: a filter that names no more than one of them names all of the pod's traffic.
	Own []netip.Addr
	// NodePorts and Metadata are never captured, whatever the filter says.
	NodePorts []uint16
	Metadata  []netip.Addr
}

// Compile checks a filter and makes the program that the kernel runs; each packet that passes keeps at most snap bytes. What a person
// wrote is one operand of ours, which leaves out the API server, the node's components and the cloud's metadata. That comes first: words
// such as vlan change where the kernel looks in a packet for all that stands behind them.
func (c Compiler) Compile(ctx context.Context, text string, snap int) ([]bpf.RawInstruction, error) {
	if err := c.check(text); err != nil {
		return nil, err
	}
	// Alone first: so it is whole, and no parenthesis of it closes one of ours.
	alone, err := c.run(ctx, text, snap)
	if err != nil {
		return nil, err
	}
	if broad(alone, c.Own) {
		return nil, errors.New("NET_FILTER wants most of the pod's traffic: name a host, a port or a flag, as in “host 10.0.0.5 and port 443”")
	}
	return c.run(ctx, "not ("+c.never()+") and ("+text+")", snap)
}

func (c Compiler) check(text string) error {
	if len(text) > maxFilter {
		return fmt.Errorf("NET_FILTER has more than %d characters", maxFilter)
	}
	if !filterForm.MatchString(text) {
		return errors.New("NET_FILTER must be a filter of tcpdump, as in “host 10.0.0.5 and port 443”")
	}
	for _, word := range strings.FieldsFunc(text, func(char rune) bool { return strings.ContainsRune(" ()!<>=&|", char) }) {
		if port, err := strconv.ParseUint(word, 10, 16); err == nil && (port == 6443 || slices.Contains(c.NodePorts, uint16(port))) {
			return fmt.Errorf("NET_FILTER names port %d, of the cluster's own components: their traffic is never captured", port)
		}
		if address, err := netip.ParseAddr(word); err == nil && (slices.Contains(c.Metadata, address) || word == "169.254.169.254") {
			return fmt.Errorf("NET_FILTER names %s, where clouds hand out credentials: its traffic is never captured", address)
		}
		if c.APIServer.IsValid() && word == c.APIServer.Addr().String() {
			return fmt.Errorf("NET_FILTER names %s, the API server: its traffic is never captured", word)
		}
	}
	return nil
}

// never is the filter of what is left out.
func (c Compiler) never() string {
	// Clouds and node-local name servers answer DNS at link-local addresses: that may be seen.
	parts := []string{"tcp port 6443", "(net 169.254.0.0/16 and not port 53)"}
	for _, port := range slices.Sorted(slices.Values(c.NodePorts)) {
		parts = append(parts, fmt.Sprintf("tcp port %d", port))
	}
	for _, address := range c.Metadata {
		parts = append(parts, "host "+address.String())
	}
	if c.APIServer.IsValid() {
		parts = append(parts, fmt.Sprintf("(host %s and port %d)", c.APIServer.Addr(), c.APIServer.Port()))
	}
	return strings.Join(parts, " or ")
}

// run lets tcpdump compile, for Ethernet, which is what a pod's interfaces and the loopback speak.
func (c Compiler) run(ctx context.Context, filter string, snap int) ([]bpf.RawInstruction, error) {
	ctx, cancel := context.WithTimeout(ctx, compileTimeout)
	defer cancel()
	words := append(slices.Clone(c.Tcpdump), "-y", "EN10MB", "-s", strconv.Itoa(snap), "-ddd", "--", filter)
	//nolint:gosec // The filter is one word, and no shell reads it.
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Env = []string{}
	var told bytes.Buffer
	command.Stderr = &told
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("NET_FILTER is not one that tcpdump knows: %s", complaint(told.String(), err))
	}
	return parse(string(output))
}

// complaint is what tcpdump says of a filter, without its name.
func complaint(told string, err error) string {
	lines := strings.Split(strings.TrimSpace(told), "\n")
	last := strings.TrimPrefix(lines[len(lines)-1], "tcpdump: ")
	if last == "" {
		return err.Error()
	}
	return last
}

// parse reads the form of -ddd: the number of instructions, then four numbers for each.
func parse(text string) ([]bpf.RawInstruction, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	size, err := strconv.Atoi(lines[0])
	if err != nil || size != len(lines)-1 || size == 0 {
		return nil, errors.New("tcpdump gave no program")
	}
	program := make([]bpf.RawInstruction, size)
	for index, line := range lines[1:] {
		each := &program[index]
		if _, err := fmt.Sscanf(line, "%d %d %d %d", &each.Op, &each.Jt, &each.Jf, &each.K); err != nil {
			return nil, errors.New("tcpdump gave no program")
		}
	}
	return program, nil
}
