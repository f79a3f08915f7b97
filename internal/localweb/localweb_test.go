// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package localweb

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// serve starts a server that says what it was asked for.
func serve(t *testing.T) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		ended <- s.Serve(t.Context(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
				return
			}
			io.WriteString(w, r.URL.Path+" "+string(b[:min(len(b), 9)]))
		}))
	}()
	t.Cleanup(func() {
		s.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// Only the page itself gets answers.
func TestHostileRequests(t *testing.T) {
	s := serve(t)
	base := strings.TrimSuffix(s.URL(), s.token+"/")
	_, port, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(base, "http://"), "/"), ":")
	huge := bytes.Repeat([]byte("x"), MaxBody+1)
	for name, c := range map[string]struct {
		method    string // POST if it is not given
		url, host string
		header    map[string]string
		body      io.Reader
		status    int
		answer    string
	}{
		"right":             {url: s.URL() + "a/b", body: strings.NewReader("hello"), status: 200, answer: "/a/b hello"},
		"by localhost":      {url: s.URL(), host: "localhost:" + port, status: 200, answer: "/ "},
		"own origin":        {url: s.URL(), header: map[string]string{"Origin": strings.TrimSuffix(base, "/"), "Sec-Fetch-Site": "same-origin"}, status: 200, answer: "/ "},
		"no token":          {url: base, status: 403, answer: "token"},
		"no slash":          {url: base + s.token, status: 403, answer: "token"},
		"wrong token":       {url: base + strings.Repeat("0", len(s.token)) + "/", status: 403, answer: "token"},
		"part of token":     {url: base + s.token[:10] + "/", status: 403, answer: "token"},
		"token in query":    {url: base + "?token=" + s.token, status: 403, answer: "token"},
		"rebound name":      {url: s.URL(), host: "evil.example:" + port, status: 421, answer: "only at"},
		"no port":           {url: s.URL(), host: "127.0.0.1", status: 421, answer: "only at"},
		"other origin":      {url: s.URL(), header: map[string]string{"Origin": "http://evil.example"}, status: 403, answer: "another page"},
		"no origin at all":  {url: s.URL(), header: map[string]string{"Origin": "null"}, status: 403, answer: "another page"},
		"followed link":     {method: "GET", url: s.URL(), header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, status: 200, answer: "/ "},
		"framed link":       {method: "GET", url: s.URL(), header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, status: 403, answer: "another page"},
		"link to an action": {method: "GET", url: s.URL() + "save", header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, status: 403, answer: "another page"},
		"cross site":        {url: s.URL(), header: map[string]string{"Sec-Fetch-Site": "cross-site"}, status: 403, answer: "another page"},
		"huge":              {url: s.URL(), body: bytes.NewReader(huge), status: 413, answer: "at most"},
		"huge, in chunks":   {url: s.URL(), body: struct{ io.Reader }{bytes.NewReader(huge)}, status: 413, answer: "too large"},
	} {
		r, err := http.NewRequest(cmp.Or(c.method, "POST"), c.url, c.body)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		for k, v := range c.header {
			r.Header.Set(k, v)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != c.status || !strings.Contains(string(b), c.answer) {
			t.Errorf("%s: %d %s, want %d with %q", name, answer.StatusCode, b, c.status, c.answer)
		}
		if p := answer.Header.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'") {
			t.Errorf("%s: the policy is %q", name, p)
		}
	}
}

// Addresses that others can reach are refused, and tokens differ.
func TestListen(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "[::]:0", "10.0.0.1:0", ":0", "localhost:0", "127.0.0.1"} {
		if s, err := Listen(address); err == nil || !strings.Contains(err.Error(), "127.0.0.1:0") {
			t.Errorf("%s: %v %v", address, s, err)
		}
	}
	a, b := serve(t), serve(t)
	if a.token == b.token || len(a.token) != 32 {
		t.Errorf("tokens %s and %s", a.token, b.token)
	}
	if _, err := Listen(a.listener.Addr().String()); err == nil {
		t.Error("one port is opened twice")
	}
}

// A cancelled context ends the server without an error.
func TestServeEnds(t *testing.T) {
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Serve(ctx, http.NotFoundHandler()); err != nil {
		t.Error(err)
	}
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("the server still answers")
	}
}
