// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// A leader and its workers prove who they are by TLS 1.3 with an Ed25519 key each. The leader's key never leaves the
// file keyFile. The token of the workers has the leader's public key, by which they recognise it, and
// the key that they share. Neither is ever sent.
const (
	keyFile     = "key"
	tokenFile   = "token"
	keyPrefix   = "euryale-leader-2."
	tokenPrefix = "euryale-token-2."
)

// secrets are what a leader knows.
type secrets struct{ leader, worker ed25519.PrivateKey }

// ticket is what a worker knows: the contents of a token.
type ticket struct {
	leader ed25519.PublicKey
	worker ed25519.PrivateKey
}

// token returns the text that lets workers take part.
func (s secrets) token() string {
	return written(tokenPrefix, append(bytes.Clone(s.leader.Public().(ed25519.PublicKey)), s.worker.Seed()...))
}

// checkBytes is the length of the checksum that tells a damaged text from the one of another key.
const checkBytes = 4

func written(prefix string, b []byte) string {
	sum := sha256.Sum256(b)
	return prefix + base64.RawURLEncoding.EncodeToString(append(b, sum[:checkBytes]...))
}

// decoded reads what written wrote of so many bytes.
func decoded(text, prefix string, size int) ([]byte, error) {
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return nil, fmt.Errorf("it does not begin with %q", prefix)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil || len(b) != size+checkBytes {
		return nil, fmt.Errorf("it has %d characters: want %d letters, digits, - and _ after %q", len(text), base64.RawURLEncoding.EncodedLen(size+checkBytes), prefix)
	}
	if sum := sha256.Sum256(b[:size]); !bytes.Equal(sum[:checkBytes], b[size:]) {
		return nil, errors.New("its checksum is wrong, so a character was changed")
	}
	return b[:size], nil
}

// formerToken is what leaders wrote that sent their token over connections without encryption.
var formerToken = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// TokenError says what is wrong with a token or a key that this program is to use.
type TokenError struct {
	Name string // name of the file; empty if it is not known
	Why  string
	// Former reports that an older version of this program wrote it.
	Former bool
}

// Error says what is wrong and how to get a good one.
func (e *TokenError) Error() string {
	name := "the token"
	if e.Name != "" {
		name = e.Name
	}
	if e.Former {
		return fmt.Sprintf("%s is of a version of this program that sent its token over the network unencrypted, so that others may know it: stop the leader, remove the files %s and %s of its folder, start it again with this version, and give workers the new %s", name, keyFile, tokenFile, tokenFile)
	}
	return fmt.Sprintf("%s cannot be used: %s", name, e.Why)
}

// IsToken reports whether a text is the token of a leader's own server, damaged or not, rather than one of another server.
func IsToken(text string) bool { return strings.HasPrefix(text, tokenPrefix) }

// ticketOf reads a token.
func ticketOf(text string) (ticket, error) {
	b, err := decoded(text, tokenPrefix, ed25519.PublicKeySize+ed25519.SeedSize)
	if err != nil {
		return ticket{}, &TokenError{Why: err.Error() + ": copy the leader's file " + tokenFile + " again"}
	}
	return ticket{ed25519.PublicKey(b[:ed25519.PublicKeySize]), ed25519.NewKeyFromSeed(b[ed25519.PublicKeySize:])}, nil
}

// secretsIn reads the keys of a leader's folder, or makes them. Without the leader's key the token is made again as well, so that
// removing the key locks out everybody who had the token.
func secretsIn(folder string) (s secrets, err error) {
	keyName, tokenName := filepath.Join(folder, keyFile), filepath.Join(folder, tokenFile)
	key, err := secretIn(keyName)
	if err != nil {
		return s, err
	}
	text, err := secretIn(tokenName)
	switch {
	case err != nil:
		return s, err
	case formerToken.MatchString(text):
		return s, &TokenError{Name: tokenName, Former: true}
	case key == "":
		s.leader = fresh()
		if err := replaceSecret(keyName, written(keyPrefix, s.leader.Seed())); err != nil {
			return s, err
		}
		text = ""
	default:
		b, err := decoded(key, keyPrefix, ed25519.SeedSize)
		if err != nil {
			return s, &TokenError{Name: keyName, Why: err.Error() + ": remove it, and the leader makes a new key and a new token for its workers"}
		}
		s.leader = ed25519.NewKeyFromSeed(b)
	}
	if text == "" {
		s.worker = fresh()
		return s, replaceSecret(tokenName, s.token())
	}
	t, err := ticketOf(text)
	if err == nil && !t.leader.Equal(s.leader.Public()) {
		err = errors.New("it is of another leader's key")
	}
	if err != nil {
		var bad *TokenError
		why := err.Error()
		if errors.As(err, &bad) {
			why, _, _ = strings.Cut(bad.Why, ": copy the leader's file")
		}
		return s, &TokenError{Name: tokenName, Why: why + ": remove it, and the leader makes a new one for its workers"}
	}
	s.worker = t.worker
	return s, nil
}

// fresh makes a key.
func fresh() ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // the system has no random numbers
	}
	return key
}

// ReadToken reads a file with a token. One that others can read is an error, for they may have done so.
func ReadToken(name string) (string, error) {
	text, err := secretIn(name)
	if err != nil {
		return "", err
	}
	if text == "" {
		if _, err := os.Stat(name); err != nil {
			return "", err
		}
		return "", &TokenError{Name: name, Why: "it is empty: copy the leader's file " + tokenFile + " again"}
	}
	return text, nil
}

// secretIn reads a file that only its owner may read. It returns "" for one that is empty, as a leader leaves it that was killed,
// or is not there.
func secretIn(name string) (string, error) {
	f, err := foreign.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := private(f, name); err != nil {
		return "", err
	}
	b := make([]byte, 4096)
	n, err := f.Read(b)
	if n == 0 {
		return "", nil
	}
	return strings.TrimSpace(string(b[:n])), err
}

// private returns an error if others than the owner of a file may read or change it, where the system knows owners.
func private(f *os.File, name string) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if mode := st.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return &TokenError{Name: name, Why: fmt.Sprintf("other users can read or change it (mode %04o, want 0600): if they may have done so, remove the files %s and %s of the leader's folder and start the leader again, which makes new ones; else run chmod 600 %s", mode, keyFile, tokenFile, name)}
	}
	return nil
}

// replaceSecret writes a file that only its owner can read, in place of an empty or a former one.
func replaceSecret(name, text string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, shared := f.Stat()
	if shared == nil {
		if shared = private(f, name); shared != nil {
			shared = &TokenError{Name: name, Why: "this file system lets all users read all files: give the leader a folder on another one with --folder, and give workers the token by the variable EURYALE_TOKEN"}
		}
	}
	if err = shared; err == nil {
		_, err = f.WriteString(text + "\n")
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(name)
	}
	return err
}

// certificate returns a certificate that a key has signed for itself. It says nothing but the public key.
func certificate(key ed25519.PrivateKey) (tls.Certificate, error) {
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// errStranger says that the other side of a connection has another key.
var errStranger = errors.New("it has another key")

// only returns a check that the other side has a key. TLS 1.3 has proved by then that it has the private part of the one in its
// certificate. Names and times in it mean nothing here.
func only(key ed25519.PublicKey) func(tls.ConnectionState) error {
	return func(c tls.ConnectionState) error {
		if len(c.PeerCertificates) == 0 {
			return errStranger
		}
		if have, ok := c.PeerCertificates[0].PublicKey.(ed25519.PublicKey); !ok || !have.Equal(key) {
			return errStranger
		}
		return nil
	}
}

// server returns the settings of the leader's side of connections.
func (s secrets) server() (*tls.Config, error) {
	c, err := certificate(s.leader)
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{c}, SessionTicketsDisabled: true,
		ClientAuth: tls.RequireAnyClientCert, VerifyConnection: only(s.worker.Public().(ed25519.PublicKey))}, err
}

// client returns the settings of a worker's side of connections.
func (t ticket) client() (*tls.Config, error) {
	c, err := certificate(t.worker)
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{c},
		InsecureSkipVerify: true, VerifyConnection: only(t.leader)}, err // instead of a name, the key itself is compared
}
