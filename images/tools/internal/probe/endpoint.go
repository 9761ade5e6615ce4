// Package probe asks one endpoint the questions that a client asks, one after the other: its name, a connection to each address, TLS, HTTP.
// It sends no header, no body and no credential, reads no body, follows no redirect, and connects to no address that belongs to the
// node or the cloud rather than to the workloads.
package probe

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Endpoint is what to probe.
type Endpoint struct {
	// Scheme is tcp, tls, http or https.
	Scheme string
	// Host is a name or an address, without brackets.
	Host string
	Port uint16
	// Path is for HTTP only, escaped, and begins with a slash.
	Path string
}

const maxSetting = 256

var defaultPorts = map[string]uint16{"http": 80, "https": 443}

// isLabel is whether a word may stand between the dots of a host name. No regular expression: autodiagnose would link them for it.
func isLabel(word string) bool {
	return len(word) > 0 && len(word) <= 63 && word[0] != '-' && word[len(word)-1] != '-' && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// Parse reads HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT, http://HOST… or https://HOST…; the last two may have a port and a path.
// A query, a fragment or a user is refused: it may hold a secret, and a probe does not need it.
func Parse(text string) (Endpoint, error) {
	if len(text) > maxSetting {
		return Endpoint{}, fmt.Errorf("NET_ENDPOINT has more than %d characters", maxSetting)
	}
	for _, char := range text {
		if char <= ' ' || char > '~' {
			return Endpoint{}, errors.New("NET_ENDPOINT must have printable characters only, without spaces")
		}
	}
	if !strings.Contains(text, "://") {
		text = "tcp://" + text
	}
	address, err := url.Parse(text)
	if err != nil {
		return Endpoint{}, errors.New("NET_ENDPOINT must be HOST:PORT, https://HOST, http://HOST or tls://HOST:PORT")
	}
	return fromURL(address)
}

func fromURL(address *url.URL) (Endpoint, error) {
	endpoint := Endpoint{Scheme: address.Scheme, Host: strings.ToLower(address.Hostname())}
	web := endpoint.Scheme == "http" || endpoint.Scheme == "https"
	switch {
	case !web && endpoint.Scheme != "tcp" && endpoint.Scheme != "tls":
		return Endpoint{}, errors.New("NET_ENDPOINT must be HOST:PORT, https://HOST, http://HOST or tls://HOST:PORT")
	case address.User != nil:
		return Endpoint{}, errors.New("NET_ENDPOINT must not have a user or a password")
	case address.RawQuery != "" || address.ForceQuery || address.Fragment != "":
		return Endpoint{}, errors.New("NET_ENDPOINT must not have a query or a fragment")
	case !web && address.Path != "":
		return Endpoint{}, errors.New("NET_ENDPOINT has a path, which needs http:// or https://")
	}
	if web {
		endpoint.Path = "/" + strings.TrimPrefix(address.EscapedPath(), "/")
		endpoint.Port = defaultPorts[endpoint.Scheme]
	}
	if port := address.Port(); port != "" || endpoint.Port == 0 {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 {
			return Endpoint{}, errors.New("NET_ENDPOINT needs a port from 1 to 65535")
		}
		endpoint.Port = uint16(number)
	}
	if err := checkHost(endpoint.Host); err != nil {
		return Endpoint{}, err
	}
	return endpoint, checkPort(endpoint.Port)
}

func checkHost(host string) error {
	if _, err := netip.ParseAddr(host); err == nil && !strings.Contains(host, "%") {
		return nil
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for _, each := range labels {
		if !isLabel(each) {
			return errors.New("NET_ENDPOINT has no valid host name or address")
		}
	}
	// 2852039166, 127.1 and 0x7f.1 are addresses to some resolvers and names to others.
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		return errors.New("NET_ENDPOINT has no valid host name or address: write an address in full")
	}
	if len(host) > 253 {
		return errors.New("NET_ENDPOINT has a host name of more than 253 characters")
	}
	return nil
}

// String is how people read it.
func (e Endpoint) String() string {
	place := net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port)))
	if e.Scheme == "tcp" {
		return place
	}
	if e.Port == defaultPorts[e.Scheme] {
		place = strings.TrimSuffix(place, ":"+strconv.Itoa(int(e.Port)))
	}
	return e.Scheme + "://" + place + e.Path
}

func (e Endpoint) secure() bool { return e.Scheme == "tls" || e.Scheme == "https" }
func (e Endpoint) web() bool    { return e.Scheme == "http" || e.Scheme == "https" }
