package main

import (
	"crypto/x509"
	"io"
	"os"

	// The public authorities, where the image has no list of its own.
	_ "golang.org/x/crypto/x509roots/fallback"

	"kdebug/tools/internal/probe"
	"kdebug/tools/internal/target"
)

// Where images keep the authorities that they trust: also where absolute links on these ways lead, which are not followed (Red Hat's bundle, Debian's
// /var/run).
var bundles = []string{
	"etc/ssl/certs/ca-certificates.crt", "etc/pki/tls/certs/ca-bundle.crt", "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "etc/ssl/cert.pem",
	"var/run/secrets/kubernetes.io/serviceaccount/ca.crt", "run/secrets/kubernetes.io/serviceaccount/ca.crt",
}

// The variables by which a program is told of others: OpenSSL, Node, Python's requests, curl, the AWS SDKs, libpq.
var bundleVariables = []string{
	"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE", "PGSSLROOTCERT",
}

const maxBundle = 4 << 20

// roots are the public authorities, and those of the target where they can be read.
func roots(from *target.Target) *probe.Roots {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if from == nil || !from.Readable {
		return &probe.Roots{Pool: pool, Unread: true}
	}
	places := bundles
	if variables, err := from.Environ(); err == nil {
		places = append(places[:len(places):len(places)], named(variables)...)
	}
	addBundles(pool, places, from.Open)
	return &probe.Roots{Pool: pool}
}

func named(variables map[string]string) []string {
	var places []string
	for _, name := range bundleVariables {
		if path := variables[name]; path != "" {
			places = append(places, path)
		}
	}
	return places
}

func addBundles(pool *x509.CertPool, places []string, open func(name string) (*os.File, error)) {
	for _, name := range places {
		file, err := open(name)
		if err != nil {
			continue
		}
		if content, err := io.ReadAll(io.LimitReader(file, maxBundle)); err == nil {
			pool.AppendCertsFromPEM(content)
		}
		file.Close()
	}
}
