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

	"kdebug/tools/internal/report"
	"kdebug/tools/internal/rules"
)

const (
	tlsTimeout  = 5 * time.Second
	maxChain    = 10
	hoursPerDay = 24
)

// handshake makes a TLS connection of one and says what the server showed. It presents no certificate and checks none on the way: a bad
// one is a finding, not an end. Roots are the authorities that count; nil: nobody asks who signed. On failure of the handshake there is no connection.
func handshake(ctx context.Context, conn net.Conn, endpoint Endpoint, roots *Roots, now time.Time) (*rules.Part, net.Conn) {
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
	result.Find("tls_slow", float64(took.Milliseconds()), "the TLS handshake with %s takes %s", endpoint.Host, milliseconds(took))
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

// Roots are the authorities that count.
type Roots struct {
	Pool *x509.CertPool
	// Unread says that the target may trust others, whose files cannot be read: then nobody is called untrusted.
	Unread bool
}

// judge says what each certificate is for and how long it holds, and checks time, name and authority: in this order, because one that has expired is
// refused under any name.
func judge(result *rules.Part, chain []*x509.Certificate, host string, roots *Roots, now time.Time) {
	if len(chain) == 0 {
		return
	}
	chain = chain[:min(len(chain), maxChain)]
	options := x509.VerifyOptions{Intermediates: x509.NewCertPool(), CurrentTime: now}
	for index, each := range chain {
		left := each.NotAfter.Sub(now).Hours() / hoursPerDay
		result.Say("%d: %s, by %s, until %s (%.0f days)", index, subject(each), each.Issuer.CommonName, each.NotAfter.UTC().Format("2006-01-02"), left)
		if index > 0 {
			options.Intermediates.AddCert(each)
		}
	}
	leaf := chain[0]
	soonest, distrusted := leaf, error(nil)
	if roots != nil {
		options.Roots = roots.Pool
		soonest, distrusted = needed(chain, options)
	}
	judgeTime(result, leaf, soonest, now)
	if err := leaf.VerifyHostname(host); err != nil {
		result.Find("tls_mismatch", 0, "the certificate is for %s, not for %s", names(leaf), host)
	}
	switch {
	case distrusted != nil && roots.Unread:
		result.Say("%s; the files of the target, which may trust it, cannot be read", distrust(leaf, distrusted))
	case distrusted != nil:
		result.Find("tls_untrusted", 0, "%s", distrust(leaf, distrusted))
	}
}

// needed is the first to expire of the certificates that a client needs, and why none of the authorities stands for them, at a time when all held. What
// no client needs may expire: a server often sends one more, for clients that know an older authority. Without an authority only the first is needed
// for sure.
func needed(chain []*x509.Certificate, options x509.VerifyOptions) (*x509.Certificate, error) {
	leaf := chain[0]
	sound, err := leaf.Verify(options)
	if err != nil {
		if first := firstToExpire(chain).NotAfter; options.CurrentTime.After(first) {
			options.CurrentTime = first
		}
		if options.CurrentTime.Before(leaf.NotBefore) {
			options.CurrentTime = leaf.NotBefore
		}
		sound, err = leaf.Verify(options)
	}
	soonest := leaf
	for index, each := range sound {
		if first := firstToExpire(each); index == 0 || first.NotAfter.After(soonest.NotAfter) {
			soonest = first
		}
	}
	return soonest, err
}

func judgeTime(result *rules.Part, leaf, soonest *x509.Certificate, now time.Time) {
	switch left := soonest.NotAfter.Sub(now).Hours() / hoursPerDay; {
	case left < 0:
		result.Find("tls_expired", 0, "the certificate of %s expired on %s", subject(soonest), soonest.NotAfter.UTC().Format("2006-01-02"))
	case now.Before(leaf.NotBefore):
		result.Find("tls_failed", 0, "the certificate of %s holds only from %s on", subject(leaf), leaf.NotBefore.UTC().Format("2006-01-02"))
	default:
		result.Find("tls_expiring", float64(int(left)), "the certificate of %s expires in %s", subject(soonest), report.Counted(int(left), "day"))
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
		return "the authority " + quoted(leaf.Issuer.CommonName) + " is neither a public one nor one of the target's"
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
