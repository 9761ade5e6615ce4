package probe

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParseTakesWhatAProbeNeeds(t *testing.T) {
	for text, want := range map[string]Endpoint{
		"db.shop:5432":                  {"tcp", "db.shop", 5432, ""},
		"tls://DB.Shop:5433":            {"tls", "db.shop", 5433, ""},
		"https://api.example.com":       {"https", "api.example.com", 443, "/"},
		"http://web":                    {"http", "web", 80, "/"},
		"https://10.0.0.1:8443/a/b":     {"https", "10.0.0.1", 8443, "/a/b"},
		"[2001:db8::1]:80":              {"tcp", "2001:db8::1", 80, ""},
		"http://_srv.web.svc/health%20": {"http", "_srv.web.svc", 80, "/health%20"},
		"127.0.0.1:8080":                {"tcp", "127.0.0.1", 8080, ""},
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestParseRefusesTheRest(t *testing.T) {
	for _, text := range []string{
		"", "web", "web:", "web:0", "web:65536", "web:http", ":80", "http://", "ftp://web", "file:///etc/passwd", "gopher://web:70/x",
		"http://user:secret@web/", "http://user@web", "http://web/?token=1", "http://web/?", "http://web/#x", "tls://web:443/path",
		"http://web/a b", "http://web/\r\nHost: evil", "web:80\n", "wéb:80", "a..b:80", "-a:80", "http://[fe80::1%25eth0]:80/",
		// Addresses in forms that only some resolvers read.
		"2852039166:80", "127.1:80", "0x7f000001:80", "0177.0.0.1:80", "169.254.43518:80", "http://0xa9fea9fe/",
		// The node's and the cluster's own.
		"web:10250", "10.0.0.1:10255", "https://etcd:2379", "http://web:10248/healthz",
		strings.Repeat("a", 300) + ":80", strings.Repeat("a.", 126) + "aaaaa:80",
	} {
		if endpoint, err := Parse(text); err == nil {
			t.Errorf("%q became %+v", text, endpoint)
		}
	}
}

// RFC 6052, 2.2: the length of the translator's prefix says where the IPv4 address is, and byte 8 is never part of it. What follows it is not looked at.
func TestAnAddressBehindATranslatorIsFoundWhereverItsPrefixPutsIt(t *testing.T) {
	place := Place{Gateways: []netip.Addr{netip.MustParseAddr("10.244.0.1")}}
	for prefix, text := range map[string]string{
		"/48": "64:ff9b:1:a9fe:a9:fe00:a00:1", "/56": "64:ff9b:1:a9:fe:a9fe:a00:1", "/64": "64:ff9b:1:0:a9:feaa:200:1", "/96": "64:ff9b:1:fffe::a9fe:a9fe",
		"/48 and the gateway": "64:ff9b:1:af4:0:100::", "/48 and no host": "64:ff9b:1::",
	} {
		if place.Refuses(netip.MustParseAddr(text)) == "" {
			t.Errorf("%s: %s is probed", prefix, text)
		}
	}
	for prefix, text := range map[string]string{
		"/48": "64:ff9b:1:a00:0:500::", "/56": "64:ff9b:1:a:0:5::", "/64": "64:ff9b:1:0:a:0:500:0", "/96": "64:ff9b:1::a00:5", "/96 of another length": "64:ff9b:1:fffe::a00:5",
	} {
		if reason := place.Refuses(netip.MustParseAddr(text)); reason != "" {
			t.Errorf("%s: %s is not probed: %s", prefix, text, reason)
		}
	}
}

func TestAddressesOfTheNodeAndTheCloudAreRefused(t *testing.T) {
	place := Place{Gateways: []netip.Addr{netip.MustParseAddr("10.244.0.1")}}
	for _, text := range []string{
		"169.254.169.254", "169.254.170.2", "169.254.0.1", "fe80::1", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192",
		"::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::1", "::169.254.169.254",
		"0.0.0.0", "::", "0.1.2.3", "224.0.0.1", "ff02::1", "255.255.255.255", "240.0.0.1", "10.244.0.1", "::ffff:10.244.0.1", "64:ff9b::10.244.0.1",
	} {
		if place.Refuses(netip.MustParseAddr(text)) == "" {
			t.Errorf("%s is probed", text)
		}
	}
	for _, text := range []string{"10.0.0.1", "10.96.0.1", "127.0.0.1", "::1", "192.168.1.1", "1.1.1.1", "2606:4700::1111", "fd00::1", "100.64.0.1", "::ffff:10.0.0.1"} {
		if reason := place.Refuses(netip.MustParseAddr(text)); reason != "" {
			t.Errorf("%s is not probed: %s", text, reason)
		}
	}
	if (Place{OnNode: true}).Refuses(netip.MustParseAddr("127.0.0.1")) == "" || (Place{OnNode: true}).Refuses(netip.MustParseAddr("::1")) == "" {
		t.Error("the node's loopback is probed")
	}
	if (Place{}).Refuses(netip.Addr{}) == "" {
		t.Error("no address is probed")
	}
}
