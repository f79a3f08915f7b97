// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Access is the address of a server and the credentials that it asks for.
type Access struct {
	URL string // address such as tls://node1:4222
	// Token is what the leader wrote to the file token of its folder. With it, connections are
	// encrypted, and both sides prove that they have their key without sending it. Any other text is sent
	// to the server as it is, and only over TLS.
	Token string
	Creds string // name of the file of credentials, for servers with accounts
	// Wait is how long to wait for a server that is not running yet. Default: not at all.
	Wait time.Duration
}

// NoServerError says that no server answers at an address.
type NoServerError struct {
	URL string
	Err error
}

// Error names the address and the likely causes.
func (e *NoServerError) Error() string {
	return fmt.Sprintf("no server answers at %s (%v): check that the leader is running there, that it listens on an address that this machine can reach (--listen), and that no firewall is in between", e.URL, e.Err)
}

// Unwrap returns the error of the connection.
func (e *NoServerError) Unwrap() error { return e.Err }

// ImpostorError says that another program answers at the address of a leader.
type ImpostorError struct {
	URL string
	Err error
}

// Error names the address, what is wrong, and the likely causes.
func (e *ImpostorError) Error() string {
	return fmt.Sprintf("the program that answers at %s does not prove that it is the leader of this token (%v), so no work is taken from it, and nothing secret was sent to it: check the address; if the leader's key was made anew, give this worker the new token, which is in leader/token in the store of the run; if the leader is not running, another program has taken its port", e.URL, e.Err)
}

// Unwrap returns the error of the connection.
func (e *ImpostorError) Unwrap() error { return e.Err }

// CertificateError says that the certificate of a server is not trusted.
type CertificateError struct {
	URL string
	Err error
}

// Error names the address and says what to do.
func (e *CertificateError) Error() string {
	return fmt.Sprintf("the certificate of the server at %s is not trusted (%v), so nothing was sent to it: if an authority of your own signed it, name the file of that authority's certificate in the variable SSL_CERT_FILE", e.URL, e.Err)
}

// Unwrap returns the error of the connection.
func (e *CertificateError) Unwrap() error { return e.Err }

// UnprovenError says that a worker was given no manifest for a server that is not the leader's own.
type UnprovenError struct{ URL string }

// Error names the address and says what to do.
func (e *UnprovenError) Error() string {
	return fmt.Sprintf("without the token of the leader, nothing shows that the server at %s is the leader's, so this worker does not open what it names: give the token that the leader wrote to leader/token in the store of the run, or, for a NATS server of your own, the manifest of the run", e.URL)
}

// ClearTextError says that a secret was to cross a network unencrypted.
type ClearTextError struct{ URL string }

// Error names the address and says what to do.
func (e *ClearTextError) Error() string {
	return fmt.Sprintf("the token would be sent to %s unencrypted, to whichever program answers there: use a server with TLS (tls://...), or --creds, whose key is not sent", e.URL)
}

// AccessError says that a server refuses the token or the credentials.
type AccessError struct {
	URL string
	Err error
}

// Error names the address and says where to find the token.
func (e *AccessError) Error() string {
	return fmt.Sprintf("the server at %s refuses the token or the credentials (%v): the leader writes its token to leader/token in the store of the run, and removing that file locks out who had it", e.URL, e.Err)
}

// Unwrap returns the server's error.
func (e *AccessError) Unwrap() error { return e.Err }

// OtherManifestError says that a leader and a worker have different manifests.
type OtherManifestError struct{ Have, Want string }

// Error names both manifests and says what to do.
func (e *OtherManifestError) Error() string {
	return fmt.Sprintf("the leader distributes items of the manifest %.12s..., but this worker has the manifest %.12s...: give it the leader's file", e.Want, e.Have)
}

// NotSharedError says that a worker and the leader do not use the same folder.
type NotSharedError struct{ Worker, File, Folder string }

// Error names the file that one of them cannot see.
func (e *NotSharedError) Error() string {
	return fmt.Sprintf("%s, as the worker %s sees it, is not the leader's folder, %s: all machines must share one folder as the store; if its path differs between machines, give each its own with --store", e.File, e.Worker, e.Folder)
}

// connecting is how long a server may take to answer a new connection.
var connecting = 5 * time.Second

// dial connects. The connection comes back by itself when it was lost.
func (a Access) dial(ctx context.Context, name string, more ...nats.Option) (*nats.Conn, error) {
	u, proof, err := a.target()
	if err != nil {
		return nil, err
	}
	opts := append([]nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectJitter(250*time.Millisecond, 250*time.Millisecond),
		nats.Timeout(connecting), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(3),
	}, more...)
	opts = append(opts, proof...)
	for until := time.Now().Add(a.Wait); ; {
		nc, err := nats.Connect(u, opts...)
		if err == nil {
			return nc, nil
		}
		if err = a.failure(u, err); !errors.As(err, new(*NoServerError)) || time.Now().After(until) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// Proven reports whether the server has to prove that it is the leader's own.
func (a Access) Proven() bool { return IsToken(a.Token) }

// target returns the address of the server, and how both sides of a connection show who they are.
func (a Access) target() (u string, proof []nats.Option, err error) {
	u = a.URL
	if !strings.Contains(u, "://") {
		u = "nats://" + u
	}
	p, err := url.Parse(u)
	if err != nil || p.Host == "" {
		return u, nil, fmt.Errorf("%q is not the address of a server: want one such as tls://node1:4222", a.URL)
	}
	if a.Proven() {
		t, err := ticketOf(a.Token)
		if err != nil {
			return u, nil, err
		}
		c, err := t.client()
		return u, []nats.Option{nats.Secure(c), nats.TLSHandshakeFirst()}, err
	}
	switch encrypted := p.Scheme == "tls" || p.Scheme == "wss"; {
	case !encrypted && formerToken.MatchString(a.Token):
		return u, nil, &TokenError{Former: true}
	case !encrypted && (a.Token != "" || p.User != nil):
		return u, nil, &ClearTextError{plain(u)}
	}
	if a.Token != "" {
		proof = append(proof, nats.Token(a.Token))
	}
	if a.Creds != "" {
		if _, err := os.Stat(a.Creds); err != nil {
			return u, nil, err
		}
		proof = append(proof, nats.UserCredentials(a.Creds))
	}
	return u, proof, nil
}

// failure says what an error of a connection means.
func (a Access) failure(u string, err error) error {
	var remote *net.OpError
	var garbled tls.RecordHeaderError
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return &AccessError{plain(u), err}
	case errors.As(err, &remote) && remote.Op == "remote error": // it ended TLS: it does not take our key
		return &AccessError{plain(u), err}
	case errors.Is(err, errStranger):
		return &ImpostorError{plain(u), errStranger}
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return &CertificateError{plain(u), err}
	case a.Proven() && errors.As(err, &garbled):
		return &ImpostorError{plain(u), errors.New("it does not speak TLS")}
	case a.Proven() && strings.Contains(err.Error(), "tls: "):
		return &ImpostorError{plain(u), err}
	}
	return &NoServerError{plain(u), err}
}

// plain returns an address without what is secret in it.
func plain(u string) string {
	p, err := url.Parse(u)
	if err != nil {
		return u
	}
	p.User = nil
	return p.String()
}

// stream asks a server for JetStream.
func stream(ctx context.Context, nc *nats.Conn) (jetstream.JetStream, error) {
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncTimeout(20*time.Second))
	if err != nil {
		return nil, err
	}
	if _, err := js.AccountInfo(ctx); err != nil {
		return nil, fmt.Errorf("the server at %s does not offer JetStream to us (%w): start it with -js, and allow the account to use it", plain(nc.ConnectedUrl()), err)
	}
	return js, nil
}

// String describes how workers reach a server, leaving out secrets.
func (a Access) String() string { return plain(a.URL) }

// Loopback reports whether the server can be reached only from this machine.
func (a Access) Loopback() bool {
	u, err := url.Parse(a.URL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
