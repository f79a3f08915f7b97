// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package localweb serves a page of this program to the browser of the person who started it, and to nobody else.
//
// A Server listens on the loopback interface alone. Its address has a random token, without which every request is
// refused, and so are requests whose Host or Origin is not the server's own, which other web pages would send. A link to
// the page itself, with the token, may be followed from anywhere. Bodies are bounded, and pages may load nothing from
// elsewhere.
//
//	s, err := localweb.Listen("127.0.0.1:0")
//	if err != nil { ... }
//	fmt.Fprintln(os.Stderr, "open", s.URL())
//	err = s.Serve(ctx, handler) // until ctx is cancelled or Close is called
package localweb

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// MaxBody is the largest body of a request in bytes.
const MaxBody = 4 << 20

// policy allows a page what comes from this server, and pictures that scripts make.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// grace is how long requests at work may go on once the server is asked to end.
const grace = 3 * time.Second

// Server is a web server for one person on this machine.
type Server struct {
	listener net.Listener
	token    string
	done     chan struct{}
	once     sync.Once
}

// Listen opens a port of the loopback interface, such as "127.0.0.1:0", where 0 stands for any free port. Addresses
// that other machines can reach are refused.
func Listen(address string) (*Server, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, fmt.Errorf("localweb: %q is not an address: want an address and a port such as 127.0.0.1:0", address)
	}
	if !at.Addr().IsLoopback() {
		return nil, fmt.Errorf("localweb: other machines could reach %s: want a loopback address such as 127.0.0.1:0, and a tunnel such as ssh -L to use the page from elsewhere", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("localweb: %w: try port 0, which takes a free one", err)
	}
	var secret [16]byte
	rand.Read(secret[:]) // never fails
	return &Server{listener: l, token: hex.EncodeToString(secret[:]), done: make(chan struct{})}, nil
}

// URL returns the address of the page, with the token.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/" + s.token + "/" }

// Close asks Serve to return once the requests at work are answered.
func (s *Server) Close() { s.once.Do(func() { close(s.done) }) }

// Serve answers requests until ctx is cancelled or Close is called, which are no errors. The handler sees paths
// without the token, beginning with a slash.
func (s *Server) Serve(ctx context.Context, handler http.Handler) error {
	server := &http.Server{Handler: s.guard(handler), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("localweb: %w: start the command again", err)
	case <-ctx.Done():
	case <-s.done:
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(limit); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("localweb: the server did not shut down cleanly, but the page is closed: %w", err)
	}
	server.Close()
	return nil
}

// guard lets only requests of the page itself through.
func (s *Server) guard(next http.Handler) http.Handler {
	own := s.listener.Addr().String()
	_, port, _ := net.SplitHostPort(own)
	hosts := map[string]bool{own: true, "localhost:" + port: true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		rest, ok := s.withoutToken(r.URL.Path)
		site := r.Header.Get("Sec-Fetch-Site")
		if rest == "/" && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" {
			site = "none" // a person follows a link to the page, which needs the token and changes nothing
		}
		switch origin := r.Header.Get("Origin"); {
		case !hosts[r.Host]:
			http.Error(w, "this server answers only at "+own, http.StatusMisdirectedRequest)
		case !ok:
			http.Error(w, "the address lacks the token: use the one that the command printed", http.StatusForbidden)
		case origin != "" && origin != "http://"+r.Host, site == "cross-site", site == "same-site":
			http.Error(w, "another page may not send requests here", http.StatusForbidden)
		case r.ContentLength > MaxBody:
			http.Error(w, fmt.Sprintf("a request of %d bytes: want at most %d", r.ContentLength, MaxBody), http.StatusRequestEntityTooLarge)
		default:
			r.Body = http.MaxBytesReader(w, r.Body, MaxBody)
			u := *r.URL
			u.Path, u.RawPath = rest, ""
			r = r.Clone(r.Context())
			r.URL = &u
			next.ServeHTTP(w, r)
		}
	})
}

// withoutToken returns the path behind the token, and whether the token is right.
func (s *Server) withoutToken(path string) (string, bool) {
	token, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	right := subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
	return "/" + rest, ok && right
}
