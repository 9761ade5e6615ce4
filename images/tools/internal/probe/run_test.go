package probe

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"kdebug/tools/internal/rules"
)

// bothAt listens at one port for TCP and for UDP; a port may be free for one of them only.
func bothAt(t *testing.T) (net.Listener, net.PacketConn) {
	t.Helper()
	for range 20 {
		streams, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if packets, err := net.ListenPacket("udp", streams.Addr().String()); err == nil {
			return streams, packets
		}
		streams.Close()
	}
	t.Fatal("no port is free")
	return nil, nil
}

// nameServer answers A for the names it knows, and NXDOMAIN else, on UDP and TCP.
func nameServer(t *testing.T, known map[string]string, truncates bool) (port string) {
	t.Helper()
	return answering(t, func(asked dnsmessage.Question, overUDP bool) *dnsmessage.Message {
		reply := &dnsmessage.Message{}
		address, found := known[asked.Name.String()]
		switch {
		case !found:
			reply.RCode = dnsmessage.RCodeNameError
		case truncates && overUDP:
			reply.Truncated = true
		case asked.Type == dnsmessage.TypeA:
			reply.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: asked.Name, Class: dnsmessage.ClassINET, TTL: 5},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(address).As4()},
			}}
		}
		return reply
	})
}

// answering is a name server on UDP and TCP that says what it is told to, and nothing for nil.
func answering(t *testing.T, say func(asked dnsmessage.Question, overUDP bool) *dnsmessage.Message) (port string) {
	t.Helper()
	streams, packets := bothAt(t)
	t.Cleanup(func() { streams.Close(); packets.Close() })
	answer := func(question []byte, overUDP bool) []byte {
		var asked dnsmessage.Message
		if asked.Unpack(question) != nil || len(asked.Questions) != 1 {
			return nil
		}
		reply := say(asked.Questions[0], overUDP)
		if reply == nil {
			return nil
		}
		reply.ID, reply.Response, reply.Questions = asked.ID, true, asked.Questions
		packed, err := reply.Pack()
		if err != nil {
			t.Error(err)
		}
		return packed
	}
	go func() {
		buffer := make([]byte, 4096)
		for {
			size, from, err := packets.ReadFrom(buffer)
			if err != nil {
				return
			}
			if reply := answer(buffer[:size], true); reply != nil {
				_, _ = packets.WriteTo(reply, from)
			}
		}
	}()
	go func() {
		for {
			conn, err := streams.Accept()
			if err != nil {
				return
			}
			buffer := make([]byte, 4096)
			if size, err := conn.Read(buffer); err == nil && size > 2 {
				reply := answer(buffer[2:size], false)
				_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
			}
			conn.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(packets.LocalAddr().String())
	return port
}

func namesOf(t *testing.T, port string, servers ...string) Names {
	t.Helper()
	file := filepath.Join(t.TempDir(), "resolv.conf")
	text := "search shop.svc.test svc.test\noptions ndots:5\n"
	for _, each := range servers {
		text += "nameserver " + each + "\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	names, err := ReadNames(file, filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	names.Port = port
	return names
}

func codes(parts ...*rules.Part) string {
	var all []string
	for _, part := range parts {
		for _, finding := range part.Findings {
			all = append(all, finding.Code)
		}
	}
	return strings.Join(all, " ")
}

func lines(parts ...*rules.Part) string {
	var all strings.Builder
	for _, part := range parts {
		all.WriteString(strings.Join(part.Lines, "\n") + "\n")
	}
	return all.String()
}

func TestLookupTakesTheSearchStepsInTheirOrder(t *testing.T) {
	names := namesOf(t, nameServer(t, map[string]string{"web.svc.test.": "10.1.2.3"}, false), "127.0.0.1")
	part, addresses := names.Lookup(t.Context(), "web", "endpoint_unknown")
	if len(addresses) != 1 || addresses[0].String() != "10.1.2.3" || codes(part) != "" {
		t.Fatalf("%v %+v", addresses, part)
	}
	if len(part.Lines) != 2 || !strings.Contains(part.Lines[0], "web.shop.svc.test.  NXDOMAIN") || !strings.Contains(part.Lines[1], "web.svc.test.  10.1.2.3") {
		t.Errorf("%q", part.Lines)
	}
}

func TestLookupSaysWhatIsWrong(t *testing.T) {
	port := nameServer(t, map[string]string{"web.svc.test.": "10.1.2.3"}, false)
	if part, addresses := namesOf(t, port, "127.0.0.1").Lookup(t.Context(), "wbe", "endpoint_unknown"); codes(part) != "endpoint_unknown" || len(addresses) != 0 {
		t.Errorf("%+v", part)
	}
	// Nothing listens at 127.0.0.2.
	if part, addresses := namesOf(t, port, "127.0.0.2", "127.0.0.1").Lookup(t.Context(), "web", "endpoint_unknown"); codes(part) != "dns_loopback" || len(addresses) != 1 {
		t.Errorf("%+v", part)
	}
	if part, _ := (Names{}).Lookup(t.Context(), "web", "endpoint_unknown"); codes(part) != "dns_no_server" {
		t.Errorf("%+v", part)
	}
	if part, addresses := (Names{Hosts: map[string][]netip.Addr{"web": {netip.MustParseAddr("10.0.0.9")}}}).Lookup(t.Context(), "Web", "x"); len(addresses) != 1 || codes(part) != "" {
		t.Errorf("%+v", part)
	}
}

// A lost packet is no answer: the name may well be known.
func TestANameIsUnknownOnlyWhenEachQuestionWasAnswered(t *testing.T) {
	for lost, reply := range map[string]func(dnsmessage.Question) bool{
		"the addresses of IPv4": func(asked dnsmessage.Question) bool { return asked.Type != dnsmessage.TypeA },
		"the last step":         func(asked dnsmessage.Question) bool { return asked.Name.String() != "web." },
	} {
		port := answering(t, func(asked dnsmessage.Question, _ bool) *dnsmessage.Message {
			if reply(asked) {
				return &dnsmessage.Message{}
			}
			return nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		part, _ := namesOf(t, port, "127.0.0.1").Lookup(ctx, "web", "endpoint_unknown")
		cancel()
		if codes(part) != "dns_loopback" || !strings.HasSuffix(part.Findings[0].Text, "does not answer") {
			t.Errorf("%s: %q\n%s", lost, codes(part), lines(part))
		}
	}
}

func TestALongAnswerComesOverTCP(t *testing.T) {
	names := namesOf(t, nameServer(t, map[string]string{"web.svc.test.": "10.1.2.3"}, true), "127.0.0.1")
	part, addresses := names.Lookup(t.Context(), "web.svc.test.", "endpoint_unknown")
	if len(addresses) != 1 || !strings.Contains(lines(part), "over TCP") {
		t.Errorf("%v %q", addresses, part.Lines)
	}
}

func TestAnAnswerOfANameServerDoesNotLeadToTheCloud(t *testing.T) {
	names := namesOf(t, nameServer(t, map[string]string{"evil.test.": "169.254.169.254"}, false), "127.0.0.1")
	endpoint, err := Parse("http://evil.test/latest/meta-data/")
	if err != nil {
		t.Fatal(err)
	}
	parts, untested := Prober{Names: names}.Run(t.Context(), endpoint)
	if untested == "" || len(parts) != 2 || parts[1].Section.State != "not-looked-at" {
		t.Errorf("%q %+v", untested, parts[1])
	}
	// And if a check before it were ever left out:
	conn, err := dialer(Place{}).Dial("tcp", "169.254.169.254:80")
	if err == nil || !strings.Contains(err.Error(), "not probed") {
		t.Error(conn, err)
	}
}

// A pod without IPv6 may be given nothing else. In a network of its own, this process has no way to anywhere.
func TestAddressesThatThePodHasNoNetworkForAreFound(t *testing.T) {
	if os.Getenv("KDEBUG_WITHOUT_NETWORK") == "" {
		//nolint:gosec // It is this test.
		command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		command.Env = append(os.Environ(), "KDEBUG_WITHOUT_NETWORK=yes")
		command.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		out, err := command.CombinedOutput()
		if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
			t.Skip(err)
		} else if err != nil {
			t.Errorf("%s", out)
		}
		return
	}
	part, kept := connect(t.Context(), Place{}, []netip.Addr{netip.MustParseAddr("2001:db8::1")}, 80)
	if kept.conn != nil || codes(part) != "endpoint_silent" || part.Section.State != "finding" {
		t.Errorf("%q %+v", codes(part), part)
	}
	if !strings.Contains(lines(part), "no such network") {
		t.Errorf("%q", part.Lines)
	}
}

func probed(t *testing.T, url string, now time.Time, pool *x509.CertPool) ([]*rules.Part, string) {
	t.Helper()
	endpoint, err := Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	prober := Prober{Names: Names{Hosts: map[string][]netip.Addr{"localhost": {netip.MustParseAddr("127.0.0.1")}}}, Roots: &Roots{Pool: pool}, Now: now}
	parts, _ := prober.Run(t.Context(), endpoint)
	return parts, codes(parts...)
}

func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

func TestHTTPIsAskedOnceAndPlainly(t *testing.T) {
	asked := make(chan string, 10)
	place := listen(t, func(conn net.Conn) {
		head := make([]byte, 4096)
		size, err := conn.Read(head)
		if err != nil || size == 0 {
			return
		}
		asked <- string(head[:size])
		fmt.Fprint(conn, "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest?token=s3cret\r\nContent-Length: 9\r\n\r\nthe body!")
	})
	parts, found := probed(t, "http://"+place+"/health", time.Now(), nil)
	if found != "" {
		t.Errorf("%s %s", found, lines(parts...))
	}
	if request := <-asked; request != "GET /health HTTP/1.1\r\nHost: "+place+"\r\nConnection: close\r\n\r\n" {
		t.Errorf("%q", request)
	}
	text := lines(parts...)
	if !strings.Contains(text, "redirects to http://169.254.169.254, which is not followed") || strings.Contains(text, "s3cret") || strings.Contains(text, "body") {
		t.Error(text)
	}
	if len(asked) != 0 {
		t.Error("a second request was sent")
	}
}

func TestWhatAnEndpointDoesWrongIsFound(t *testing.T) {
	answer := func(text string, after time.Duration) func(net.Conn) {
		return func(conn net.Conn) {
			head := make([]byte, 4096)
			if size, _ := conn.Read(head); size > 0 {
				time.Sleep(after)
				_, _ = io.WriteString(conn, text)
			}
		}
	}
	for want, place := range map[string]string{
		"http_slow":             "http://" + listen(t, answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 1100*time.Millisecond)),
		"http_error":            "http://" + listen(t, answer("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", 0)),
		"http_error http_error": "http://" + listen(t, answer("220 mail ready\x1b[2J\r\n", 0)),
		"tls_failed":            "https://" + listen(t, answer("HTTP/1.1 400 Bad Request\r\n\r\n", 0)),
		"endpoint_refused":      "127.0.0.1:1",
	} {
		parts, found := probed(t, place, time.Now(), nil)
		if found != strings.Fields(want)[0] {
			t.Errorf("%s: %q\n%s", want, found, lines(parts...))
		}
		if strings.Contains(lines(parts...), "\x1b") {
			t.Error("what an endpoint sends reaches the terminal")
		}
	}
	if _, found := probed(t, "http://"+listen(t, func(net.Conn) {}), time.Now(), nil); found != "http_error" {
		t.Errorf("closed without an answer: %q", found)
	}
}

// certified serves HTTPS with a certificate for a name, from an authority that it returns.
func certified(t *testing.T, name string, until time.Time, version uint16) (string, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: until.Add(-90 * 24 * time.Hour), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	content, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, _ := x509.ParseCertificate(content)
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }), ReadHeaderTimeout: time.Second, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{content}, PrivateKey: key}}, MinVersion: tls.VersionTLS10, MaxVersion: version},
	}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() { server.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return "https://localhost:" + port, pool
}

func TestTLSSaysWhatIsWrongWithACertificate(t *testing.T) {
	now := time.Now()
	good, roots := certified(t, "localhost", now.Add(60*24*time.Hour), tls.VersionTLS13)
	if parts, found := probed(t, good, now, roots); found != "" || !strings.Contains(lines(parts...), "status 204") || !strings.Contains(lines(parts...), "TLS 1.3") {
		t.Errorf("%q %s", found, lines(parts...))
	}
	if _, found := probed(t, good, now, x509.NewCertPool()); found != "tls_untrusted" {
		t.Errorf("%q", found)
	}
	for _, each := range []struct {
		name    string
		until   time.Duration
		version uint16
		found   string
	}{
		{"localhost", 5 * 24 * time.Hour, tls.VersionTLS13, "tls_expiring"},
		{"localhost", -48 * time.Hour, tls.VersionTLS13, "tls_expired"},
		{"other.test", -48 * time.Hour, tls.VersionTLS13, "tls_expired tls_mismatch"},
		{"other.test", 60 * 24 * time.Hour, tls.VersionTLS13, "tls_mismatch"},
		{"localhost", 60 * 24 * time.Hour, tls.VersionTLS11, "tls_old"},
		{"localhost", 89*24*time.Hour + 24*time.Hour + time.Hour*2, tls.VersionTLS12, "tls_failed"},
	} {
		url, roots := certified(t, each.name, now.Add(each.until), each.version)
		if parts, found := probed(t, url, now, roots); found != each.found {
			t.Errorf("%+v: %q\n%s", each, found, lines(parts...))
		}
	}
}

// Servers go on sending a second certificate of an authority, for clients that knew an older one.
func TestACertificateThatNobodyNeedsMayExpire(t *testing.T) {
	now := time.Now()
	issue := func(name string, until time.Time, key *ecdsa.PrivateKey, by *x509.Certificate, signer *ecdsa.PrivateKey) *x509.Certificate {
		template := &x509.Certificate{
			SerialNumber: big.NewInt(until.Unix()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: now.AddDate(-9, 0, 0), NotAfter: until,
			IsCA: name != "web.test", BasicConstraintsValid: true,
		}
		if by == nil {
			by = template
		}
		content, err := x509.CreateCertificate(rand.Reader, template, by, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		certificate, _ := x509.ParseCertificate(content)
		return certificate
	}
	var keys [3]*ecdsa.PrivateKey
	for index := range keys {
		keys[index], _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	older := issue("older", now.AddDate(-1, 0, 0), keys[0], nil, keys[0])
	root := issue("root", now.AddDate(5, 0, 0), keys[1], nil, keys[1])
	crossed := issue("root", now.AddDate(-1, 0, 0), keys[1], older, keys[0])
	roots := x509.NewCertPool()
	roots.AddCert(root)
	for days, want := range map[int]string{60: "", 5: "tls_expiring"} {
		leaf := issue("web.test", now.AddDate(0, 0, days), keys[2], root, keys[1])
		part := rules.NewPart("tls")
		judge(part, []*x509.Certificate{leaf, crossed}, "web.test", &Roots{Pool: roots}, now)
		if codes(part) != want || want != "" && !strings.Contains(part.Findings[0].Text, "web.test") {
			t.Errorf("%d days: %+v", days, part.Findings)
		}
		part = rules.NewPart("tls")
		judge(part, []*x509.Certificate{leaf, crossed}, "web.test", &Roots{Pool: x509.NewCertPool()}, now)
		if codes(part) != strings.TrimSpace(want+" tls_untrusted") {
			t.Errorf("without the authority: %+v", part.Findings)
		}
		part = rules.NewPart("tls")
		judge(part, []*x509.Certificate{leaf, crossed}, "web.test", &Roots{Pool: x509.NewCertPool(), Unread: true}, now)
		if codes(part) != want || !strings.Contains(lines(part), "which may trust it, cannot be read") {
			t.Errorf("with files that cannot be read: %+v", part)
		}
	}
}

func TestTheEndOfTheLookIsNoLostPacket(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	part := rules.NewPart("connect")
	again(ctx, part, Place{}, netip.MustParseAddrPort(listen(t, func(net.Conn) {})))
	if codes(part) != "" {
		t.Errorf("%+v", part.Findings)
	}
}

func TestAnEndpointThatHangsEndsInTime(t *testing.T) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	endpoint, _ := Parse("tls://" + listen(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }))
	parts, _ := Prober{}.Run(ctx, endpoint)
	if codes(parts...) == "" || time.Since(began) > 3*time.Second {
		t.Errorf("%s %s", codes(parts...), time.Since(began))
	}
}

func TestAServerThatIsExpiredIsSaidToBeUnderAnyName(t *testing.T) {
	url, roots := certified(t, "web.test", time.Now().Add(-48*time.Hour), tls.VersionTLS13)
	parts, found := probed(t, strings.Replace(url, "localhost", "127.0.0.1", 1), time.Now(), roots)
	if found != "tls_expired tls_mismatch" {
		t.Errorf("%q %s", found, lines(parts...))
	}
}

func TestASlowHandshakeIsFound(t *testing.T) {
	url, roots := certified(t, "localhost", time.Now().Add(60*24*time.Hour), tls.VersionTLS13)
	_, behind, _ := strings.Cut(url, "https://localhost")
	slow := listen(t, func(conn net.Conn) {
		time.Sleep(1100 * time.Millisecond)
		server, err := net.Dial("tcp", "127.0.0.1"+behind)
		if err != nil {
			return
		}
		defer server.Close()
		go func() { _, _ = io.Copy(server, conn) }()
		_, _ = io.Copy(conn, server)
	})
	_, port, _ := net.SplitHostPort(slow)
	if parts, found := probed(t, "tls://localhost:"+port, time.Now(), roots); found != "tls_slow" {
		t.Errorf("%q %s", found, lines(parts...))
	}
}

// One truth for both images: what a name server does is said in the same words, and whether it is the cluster's is decided in one place.
func TestTheNameServersOfAPodAreJudgedInOnePlace(t *testing.T) {
	const theirs = "kubernetes.default.svc.test."
	knows := nameServer(t, map[string]string{theirs: "10.96.0.1"}, false)
	knowsNot := nameServer(t, nil, false)
	failing := answering(t, func(dnsmessage.Question, bool) *dnsmessage.Message {
		return &dnsmessage.Message{Header: dnsmessage.Header{RCode: dnsmessage.RCodeServerFailure}}
	})
	const cluster, node = "search shop.svc.test svc.test test\noptions ndots:5\n", "search example.com\n"
	for _, each := range []struct {
		name, conf, port string
		outside          bool
		found, says      string
		strays           uint64
	}{
		{"the cluster's", cluster + "nameserver 127.0.0.1\n", knows, false, "", "1 name server, 3 search domains, ndots 5; 1 address of kubernetes.default.svc.test from 1 name server", 0},
		{"one that does not know it", cluster + "nameserver 127.0.0.1\n", knowsNot, false, "dns_unknown_name", "0 addresses", 0},
		{"one that fails", cluster + "nameserver 127.0.0.1\n", failing, false, "dns_unanswered", "1 name server silent", 0},
		{"loopback, where nothing listens", cluster + "nameserver 127.0.0.2\n", knows, false, "dns_loopback", "", 0},
		{"the same, without the cluster's domains, and in use", node + "nameserver 127.0.0.2\n", knows, false, "dns_loopback", "this is not a cluster's DNS", 40},
		{"the same, and nobody asks it", node + "nameserver 127.0.0.2\n", knows, false, "", "0 of its servers answer and nobody asks them", 4},
		{"the node's, which answers", node + "nameserver 127.0.0.1\n", knowsNot, false, "", "1 of its servers answer", 0},
		{"a public one", node + "nameserver 192.0.2.1\n", knowsNot, false, "", "no lookup, this is not a cluster's DNS", 0},
		{"in no cluster", cluster + "nameserver 127.0.0.2\n", knows, true, "", "no lookup", 0},
		{"none", cluster, knows, false, "dns_no_server", "0 name servers", 0},
		{"four", cluster + strings.Repeat("nameserver 127.0.0.1\n", 4), knows, false, "dns_many_servers", "4 name servers", 0},
	} {
		names := ParseNames([]byte(each.conf), nil)
		names.Port = each.port
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		part, _ := names.Cluster(ctx, !each.outside, each.strays)
		cancel()
		if codes(part) != each.found || !strings.Contains(part.Section.Text, each.says) {
			t.Errorf("%s: %q %q", each.name, codes(part), part.Section.Text)
		}
	}
}
