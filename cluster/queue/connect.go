// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
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
	URL   string // address such as nats://node1:4222, or tls://...
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

// AccessError says that a server refuses the token or the credentials.
type AccessError struct {
	URL string
	Err error
}

// Error names the address and says where to find the token.
func (e *AccessError) Error() string {
	return fmt.Sprintf("the server at %s refuses the token or the credentials (%v): the leader writes its token to leader/token in the store of the run", e.URL, e.Err)
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

// dial connects. The connection comes back by itself when it was lost.
func (a Access) dial(ctx context.Context, name string, more ...nats.Option) (*nats.Conn, error) {
	u := a.URL
	if !strings.Contains(u, "://") {
		u = "nats://" + u
	}
	if p, err := url.Parse(u); err != nil || p.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a server: want one such as nats://node1:4222", a.URL)
	}
	opts := append([]nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectJitter(250*time.Millisecond, 250*time.Millisecond),
		nats.Timeout(5 * time.Second), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(3),
	}, more...)
	if a.Token != "" {
		opts = append(opts, nats.Token(a.Token))
	}
	if a.Creds != "" {
		if _, err := os.Stat(a.Creds); err != nil {
			return nil, err
		}
		opts = append(opts, nats.UserCredentials(a.Creds))
	}
	for until := time.Now().Add(a.Wait); ; {
		nc, err := nats.Connect(u, opts...)
		switch {
		case err == nil:
			return nc, nil
		case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
			return nil, &AccessError{plain(u), err}
		case time.Now().After(until):
			return nil, &NoServerError{plain(u), err}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(250 * time.Millisecond):
		}
	}
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
