// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package queue

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// external starts a NATS server that is not a leader's own.
func external(t *testing.T, set *server.Options) (address string) {
	t.Helper()
	set.Host, set.Port, set.JetStream, set.StoreDir, set.NoLog, set.NoSigs = "127.0.0.1", -1, true, t.TempDir(), true, true
	ns, err := server.NewServer(set)
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	if !ns.ReadyForConnections(20 * time.Second) {
		t.Fatal("the server does not start")
	}
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	return ns.Addr().String()
}

// Of a server that does not prove to be the leader's, a worker takes neither the path of a list nor that of a store.
func TestUnprovenServer(t *testing.T) {
	a := Access{URL: "nats://" + external(t, &server.Options{})}
	f, m := list(t, 100, behaviour{})
	set := f.leading()
	set.Server = &a
	l := lead(t, f, set)
	l.access(t)
	var unproven *UnprovenError
	if _, err := Work(t.Context(), a, idle(t, f)); !errors.As(err, &unproven) {
		t.Error(err)
	}
	// Of a copy of the list the results belong beside it, wherever the server wants them.
	copied := folder(t.TempDir())
	b, err := os.ReadFile(f.manifest())
	if err == nil {
		err = os.WriteFile(copied.manifest(), b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := idle(t, f)
	s.Manifest = copied.manifest()
	var apart *NotSharedError
	if _, err := Work(t.Context(), a, s); !errors.As(err, &apart) || !strings.Contains(err.Error(), string(copied)) {
		t.Error(err)
	}
	s = f.working()
	s.Manifest = f.manifest()
	if did, err := Work(t.Context(), a, s); err != nil || did.Items != 100 {
		t.Error(did, err)
	}
	l.wait(t)
	got, _ := merged(t, f.store(), m)
	same(t, "through another server", got, local(t, m))
}

// authority makes a certificate for this machine, and writes it to a file for those who are to trust it.
func authority(t *testing.T) (c tls.Certificate, file string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// signed makes an operator with one account and the credentials of a user of it.
func signed(t *testing.T) (set *server.Options, creds string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	pair := func(make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		k, err := make()
		must(err)
		public, err := k.PublicKey()
		must(err)
		return k, public
	}
	operator, operatorName := pair(nkeys.CreateOperator)
	account, accountName := pair(nkeys.CreateAccount)
	user, userName := pair(nkeys.CreateUser)
	claims := jwt.NewAccountClaims(accountName)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: -1, MemoryStorage: -1, Streams: -1, Consumer: -1}
	accountText, err := claims.Encode(operator)
	must(err)
	userText, err := jwt.NewUserClaims(userName).Encode(account)
	must(err)
	seed, err := user.Seed()
	must(err)
	text, err := jwt.FormatUserConfig(userText, seed)
	must(err)
	creds = filepath.Join(t.TempDir(), "me.creds")
	must(os.WriteFile(creds, text, 0o600))
	resolver := &server.MemAccResolver{}
	must(resolver.Store(accountName, accountText))
	_, systemName := pair(nkeys.CreateAccount)
	systemText, err := jwt.NewAccountClaims(systemName).Encode(operator)
	must(err)
	must(resolver.Store(systemName, systemText))
	return &server.Options{TrustedKeys: []string{operatorName}, AccountResolver: resolver, SystemAccount: systemName}, creds
}

// A server with TLS and accounts takes leaders and workers with their credentials, and one with a token takes those who have it.
// Both stay with a server whose certificate they trust.
func TestServersWithTLS(t *testing.T) {
	certificate, roots := authority(t)
	accounts, creds := signed(t)
	_, others := signed(t)
	secure := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}}
	accounts.TLSConfig, accounts.TLS = secure, true
	for _, c := range []struct {
		name        string
		set         *server.Options
		good, wrong Access
	}{
		{"credentials", accounts, Access{Creds: creds}, Access{Creds: others}},
		{"token", &server.Options{TLSConfig: secure, TLS: true, Authorization: "of a server"}, Access{Token: "of a server"}, Access{Token: "of another"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := "tls://" + external(t, c.set)
			f, m := list(t, 100, behaviour{})
			c.good.URL, c.wrong.URL = url, url
			leader := f.at(t, "lead-at", c.good, roots)
			for _, bad := range []struct {
				a           Access
				roots, want string
			}{{c.wrong, roots, "refuses the token or the credentials"}, {c.good, "/dev/null", "is not trusted"}} {
				w := f.at(t, "work-at", bad.a, bad.roots)
				if err := w.Wait(); err == nil || !strings.Contains(w.Stderr.(*strings.Builder).String(), bad.want) {
					t.Errorf("%v: %s, want %s", err, w.Stderr, bad.want)
				}
			}
			worker := f.at(t, "work-at", c.good, roots)
			if err := errors.Join(worker.Wait(), leader.Wait()); err != nil {
				t.Fatalf("%v: %s%s", err, worker.Stderr, leader.Stderr)
			}
			got, _ := merged(t, f.store(), m)
			same(t, c.name, got, local(t, m))
		})
	}
}
