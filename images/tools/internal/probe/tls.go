package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"kdebug/tools/internal/rules"
)

const (
	tlsTimeout  = 5 * time.Second
	maxChain    = 10
	hoursPerDay = 24
)

// handshake makes a TLS connection of one and says what the server showed. It presents no certificate and checks none on the way: a bad
// one is a finding, not an end. Roots are the authorities that count; on failure of the handshake there is no connection.
func handshake(ctx context.Context, conn net.Conn, endpoint Endpoint, roots *x509.CertPool, now time.Time) (*rules.Part, net.Conn) {
	result := rules.NewPart("tls")
	protocols := []string{"h2", "http/1.1"}
	if endpoint.web() {
		// The request after it is one of HTTP/1.1.
		protocols = protocols[1:]
	}
	//nolint:gosec // What the certificate is worth is found out below, and nothing is sent over the connection that is not public.
	client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, ServerName: endpoint.Host, NextProtos: protocols, MinVersion: tls.VersionTLS10})
	ctx, cancel := context.WithTimeout(ctx, tlsTimeout)
	defer cancel()
	began := time.Now()
	if err := client.HandshakeContext(ctx); err != nil {
		words := handshakeWords(err)
		result.Say("handshake fails after %s: %s", milliseconds(time.Since(began)), words)
		result.Find("tls_failed", 0, "TLS with %s fails: %s", endpoint.Host, words)
		result.Section.Text = "no handshake"
		return result, nil
	}
	took := time.Since(began)
	state := client.ConnectionState()
	protocol := state.NegotiatedProtocol
	if protocol == "" {
		protocol = "no protocol"
	}
	result.Say("%s, %s, %s, in %s", tls.VersionName(state.Version), tls.CipherSuiteName(state.CipherSuite), protocol, milliseconds(took))
	result.Section.Text = fmt.Sprintf("%s in %s", tls.VersionName(state.Version), milliseconds(took))
	if state.Version < tls.VersionTLS12 {
		result.Find("tls_old", 0, "%s speaks %s", endpoint.Host, tls.VersionName(state.Version))
	}
	judge(result, state.PeerCertificates, endpoint.Host, roots, now)
	return result, client
}

func handshakeWords(err error) string {
	var notTLS tls.RecordHeaderError
	if errors.As(err, &notTLS) {
		return "the server does not speak TLS on this port"
	}
	return why(err)
}

// judge says what each certificate is for and how long it holds, and checks name, time and authority.
func judge(result *rules.Part, chain []*x509.Certificate, host string, roots *x509.CertPool, now time.Time) {
	if len(chain) == 0 {
		return
	}
	between := x509.NewCertPool()
	for index, each := range chain[:min(len(chain), maxChain)] {
		left := each.NotAfter.Sub(now).Hours() / hoursPerDay
		result.Say("%d: %s, by %s, until %s (%.0f days)", index, subject(each), each.Issuer.CommonName, each.NotAfter.UTC().Format("2006-01-02"), left)
		if index > 0 {
			between.AddCert(each)
		}
	}
	soonest := firstToExpire(chain[:min(len(chain), maxChain)])
	// What no client needs may expire: a server often sends one more, for clients that know an older authority.
	sound, _ := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now})
	for index, each := range sound {
		if first := firstToExpire(each); index == 0 || first.NotAfter.After(soonest.NotAfter) {
			soonest = first
		}
	}
	left := soonest.NotAfter.Sub(now).Hours() / hoursPerDay
	words := fmt.Sprintf("the certificate of %s expires in %.0f days", subject(soonest), left)
	switch {
	case left < 0:
		words = fmt.Sprintf("the certificate of %s expired on %s", subject(soonest), soonest.NotAfter.UTC().Format("2006-01-02"))
	case now.Before(chain[0].NotBefore):
		result.Find("tls_failed", 0, "the certificate of %s holds only from %s on", subject(chain[0]), chain[0].NotBefore.UTC().Format("2006-01-02"))
	}
	result.Find("tls_expiring", float64(int(left)), "%s", words)
	if err := chain[0].VerifyHostname(host); err != nil {
		result.Find("tls_mismatch", 0, "the certificate is for %s, not for %s", names(chain[0]), host)
	}
	// Of the authority alone: time and name have words of their own.
	at := now
	if at.After(soonest.NotAfter) {
		at = soonest.NotAfter
	}
	if at.Before(chain[0].NotBefore) {
		at = chain[0].NotBefore
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: at}); err != nil {
		result.Find("tls_untrusted", 0, "%s", distrust(chain[0], err))
	}
}

func firstToExpire(chain []*x509.Certificate) *x509.Certificate {
	return slices.MinFunc(chain, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
}

func distrust(leaf *x509.Certificate, err error) string {
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &unknown) && leaf.Subject.String() == leaf.Issuer.String():
		return "the certificate is signed by itself"
	case errors.As(err, &unknown):
		return "the authority " + quoted(leaf.Issuer.CommonName) + " is not a public one"
	}
	return "the certificate is not valid: " + err.Error()
}

func subject(certificate *x509.Certificate) string {
	if certificate.Subject.CommonName != "" {
		return quoted(certificate.Subject.CommonName)
	}
	return names(certificate)
}

func names(certificate *x509.Certificate) string {
	all := append([]string{}, certificate.DNSNames...)
	for _, address := range certificate.IPAddresses {
		all = append(all, address.String())
	}
	if len(all) == 0 {
		return "no name"
	}
	rest := ""
	if len(all) > 3 {
		rest = fmt.Sprintf(" and %d more", len(all)-3)
	}
	return strings.Join(all[:min(len(all), 3)], ", ") + rest
}
