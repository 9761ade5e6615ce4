package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
)

// authority makes a certificate in PEM.
func authority(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
	content, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: content})
}

// A file of the target is never opened through an absolute link, and images have such links on the usual ways to their authorities.
func TestAuthoritiesAreFoundBesideTheLinksOfImages(t *testing.T) {
	for file, link := range map[string][2]string{
		// Debian.
		"run/secrets/kubernetes.io/serviceaccount/ca.crt": {"/run", "var/run"},
		// Red Hat.
		"etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem": {"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "etc/pki/tls/certs/ca-bundle.crt"},
	} {
		folder := t.TempDir()
		for _, each := range []string{file, link[1]} {
			if err := os.MkdirAll(filepath.Join(folder, filepath.Dir(each)), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(folder, file), authority(t), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(link[0], filepath.Join(folder, link[1])); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(folder)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		addBundles(pool, bundles, root.Open)
		root.Close()
		if pool.Equal(x509.NewCertPool()) {
			t.Errorf("the authority of %s is not known", file)
		}
	}
}
