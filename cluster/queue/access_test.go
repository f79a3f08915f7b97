// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package queue

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/euryale-dev/euryale/batch"
)

// wire records what goes over connections to an address in both directions.
type wire struct {
	mu       sync.Mutex
	up, down bytes.Buffer
	answer   func(net.Conn, *wire)
	address  string
	end      func() error
}

type tap struct {
	w  *wire
	to *bytes.Buffer
}

func (t tap) Write(b []byte) (int, error) {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	return t.to.Write(b)
}

func (w *wire) recorded() (up, down []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(w.up.Bytes()), bytes.Clone(w.down.Bytes())
}

// listen answers every connection to an address, which is a free one if it is empty.
func listen(t *testing.T, address string, answer func(net.Conn, *wire)) *wire {
	t.Helper()
	if address == "" {
		address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", address)
	for until := time.Now().Add(5 * time.Second); err != nil && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		l, err = net.Listen("tcp", address)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{answer: answer, address: l.Addr().String(), end: l.Close}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); w.answer(c, w) }()
		}
	}()
	return w
}

// hear reads what comes until the other side ends.
func hear(c net.Conn, w *wire) { io.Copy(tap{w, &w.up}, c) }

// through passes everything on to a server.
func through(address string) func(net.Conn, *wire) {
	return func(c net.Conn, w *wire) {
		s, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		defer s.Close()
		go io.Copy(io.MultiWriter(s, tap{w, &w.up}), c)
		io.Copy(io.MultiWriter(c, tap{w, &w.down}), s)
	}
}

// plainly is a NATS server that takes everybody, as far as anybody listens.
func plainly(c net.Conn, w *wire) {
	io.WriteString(c, `INFO {"server_id":"x","version":"2.12.0","proto":1,"headers":true,"max_payload":1048576,"jetstream":true,"auth_required":true}`+"\r\n")
	hear(c, w)
}

// idle is how a worker is set up that must not get to any work.
func idle(t *testing.T, f folder) WorkSettings {
	s := f.working()
	s.Open = func(m *batch.Manifest) (batch.Task, error) {
		t.Errorf("the worker opened %s", m.Path())
		return nil, errors.New("opened")
	}
	return s
}

// betrays reports whether bytes have a secret in them.
func betrays(b []byte, token string) bool {
	ticket, err := ticketOf(token)
	if err != nil {
		panic(err)
	}
	rest := strings.TrimPrefix(token, tokenPrefix)
	for i := 0; i+12 <= len(rest); i += 4 {
		if bytes.Contains(b, []byte(rest[i:i+12])) {
			return true
		}
	}
	return bytes.Contains(b, ticket.worker.Seed()[:8]) || bytes.Contains(b, ticket.worker.Seed()[8:16])
}

// A program on the leader's port that does not have its key sees no secret and has nothing run, whatever it does.
func TestFalseServers(t *testing.T) {
	f, _ := list(t, 100, behaviour{})
	other, _ := list(t, 100, behaviour{})
	a := lead(t, f, f.leading()).access(t)
	wrong := lead(t, other, other.leading()).access(t)
	address := func(a Access) string { return strings.TrimPrefix(a.URL, "tls://") }

	// What a worker and the leader say to each other, to be said again.
	greeting := listen(t, "", through(address(a)))
	nc, err := Access{URL: greeting.address, Token: a.Token}.dial(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream(t.Context(), nc); err != nil {
		t.Fatal(err)
	}
	nc.Close()
	up, down := greeting.recorded()
	if len(down) < 1000 || betrays(up, a.Token) || betrays(down, a.Token) || bytes.Contains(up, []byte("CONNECT")) || bytes.Contains(down, []byte("INFO")) {
		t.Fatalf("%d bytes to the leader and %d bytes from it: want them encrypted, and no secret in them", len(up), len(down))
	}

	before := connecting
	connecting = time.Second
	t.Cleanup(func() { connecting = before })
	for _, c := range []struct {
		name   string
		answer func(net.Conn, *wire)
		none   bool // as if nobody answered
		why    string
	}{
		{"plain", plainly, false, "it does not speak TLS"},
		{"garbage", func(c net.Conn, w *wire) { c.Write(bytes.Repeat([]byte{0x16, 3, 3, 0, 4}, 400)); hear(c, w) }, false, "tls: "},
		{"silent", hear, true, "timeout"},
		{"closing", func(c net.Conn, w *wire) { c.Read(make([]byte, 1)) }, true, ""},
		{"another leader", through(address(wrong)), false, errStranger.Error()},
		{"replay", func(c net.Conn, w *wire) { c.Write(down); hear(c, w) }, false, "tls: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := listen(t, "", c.answer)
			_, err := Work(t.Context(), Access{URL: "nats://" + w.address, Token: a.Token}, idle(t, f))
			var impostor *ImpostorError
			var none *NoServerError
			if c.none != errors.As(err, &none) || c.none == errors.As(err, &impostor) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%v", err)
			}
			if !c.none && (!strings.Contains(err.Error(), "does not prove that it is the leader") || !strings.Contains(err.Error(), w.address)) {
				t.Error(err)
			}
			if up, _ := w.recorded(); betrays(up, a.Token) || bytes.Contains(up, []byte("CONNECT")) || bytes.Contains(up, []byte("euryale worker")) {
				t.Errorf("the false server got %q", up)
			}
		})
	}
}

// A leader's server answers nobody who does not have the key of its workers.
func TestStrangersAreKeptOut(t *testing.T) {
	f, _ := list(t, 100, behaviour{})
	other, _ := list(t, 100, behaviour{})
	l := lead(t, f, f.leading())
	a, b := l.access(t), lead(t, other, other.leading()).access(t)
	address := strings.TrimPrefix(a.URL, "tls://")

	// A worker that knows the leader but has the key of another one's workers.
	mine, err := ticketOf(a.Token)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := ticketOf(b.Token)
	if err != nil {
		t.Fatal(err)
	}
	mixed := written(tokenPrefix, append(bytes.Clone(mine.leader), theirs.worker.Seed()...))
	var refused *AccessError
	if _, err := Work(t.Context(), Access{URL: a.URL, Token: mixed}, idle(t, f)); !errors.As(err, &refused) || !strings.Contains(err.Error(), "leader/token") {
		t.Error(err)
	}
	// Clients without TLS, and with TLS but without a key, hear nothing.
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "CONNECT {\"verbose\":true}\r\nPING\r\n")
	c.SetDeadline(time.Now().Add(20 * time.Second))
	if said, _ := io.ReadAll(c); bytes.Contains(said, []byte("INFO")) || bytes.Contains(said, []byte("PONG")) || bytes.Contains(said, []byte("OK")) {
		t.Errorf("the server said %q", said)
	}
	for name, set := range map[string]*tls.Config{"TLS 1.3": {InsecureSkipVerify: true}, "TLS 1.2": {InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}} {
		if nc, err := nats.Connect(a.URL, nats.Secure(set), nats.TLSHandshakeFirst()); err == nil {
			nc.Close()
			t.Errorf("%s: a client without a key is connected", name)
		}
	}
	if nc, err := nats.Connect("nats://"+address, nats.Token(a.Token)); err == nil {
		nc.Close()
		t.Error("a client is connected that sends the token")
	}
	// With the token it works.
	if did, err := Work(t.Context(), a, f.working()); err != nil || did.Items != 100 {
		t.Error(did, err)
	}
	l.wait(t)
}

// A program that takes the port while the leader is away gets nothing from a worker that is running, which says so, and goes on when
// the leader is back.
func TestPortTakenMeanwhile(t *testing.T) {
	f, m := list(t, 2000, behaviour{Sleep: time.Millisecond})
	l := lead(t, f, f.leading())
	a := l.access(t)
	said := make(chan string, 10)
	s := f.working()
	s.Note = func(text string) { said <- text }
	ended := make(chan error, 1)
	go func() {
		did, err := Work(t.Context(), a, s)
		if err == nil && !did.Ended {
			err = errors.New("the worker ended early")
		}
		ended <- err
	}()
	time.Sleep(300 * time.Millisecond)
	l.cancel()
	<-l.ended
	ctx, cancel := context.WithCancel(t.Context())
	w := listen(t, strings.TrimPrefix(a.URL, "tls://"), func(c net.Conn, w *wire) {
		context.AfterFunc(ctx, func() { c.Close() })
		plainly(c, w)
	})
	select {
	case text := <-said:
		if !strings.Contains(text, "does not prove that it is the leader") {
			t.Error(text)
		}
	case err := <-ended:
		t.Fatal(err)
	case <-time.After(20 * time.Second):
		t.Fatal("the worker says nothing of the program that answers")
	}
	if up, _ := w.recorded(); len(up) == 0 || betrays(up, a.Token) || bytes.Contains(up, []byte("CONNECT")) {
		t.Errorf("the false server got %q", up)
	}
	w.end()
	cancel()
	l = lead(t, f, f.leading())
	if b := l.access(t); b != a {
		t.Fatalf("%s instead of %s", b, a)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	l.wait(t)
	got, _ := merged(t, f.store(), m)
	same(t, "with a false server meanwhile", got, local(t, m))
}

// Tokens and keys that cannot be used say why, and what to do.
func TestTokens(t *testing.T) {
	f, _ := list(t, 10, behaviour{})
	set := f.leading()
	set.Folder = t.TempDir()
	l := lead(t, f, set)
	a := l.access(t)
	l.cancel()
	<-l.ended
	key, token := filepath.Join(set.Folder, keyFile), filepath.Join(set.Folder, tokenFile)
	for _, name := range []string{key, token} {
		if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
			t.Error(st, err)
		}
	}
	const old = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, c := range []struct {
		url, token, want string
		as               any
	}{
		{a.URL, "", "without the token of the leader", new(*UnprovenError)},
		{"nats://127.0.0.1:1", old, "sent its token over the network unencrypted", new(*TokenError)},
		{"nats://127.0.0.1:1", "a token of another server", "would be sent to nats://127.0.0.1:1 unencrypted", new(*ClearTextError)},
		{"nats://secret@127.0.0.1:1", "", "would be sent to nats://127.0.0.1:1 unencrypted", new(*ClearTextError)},
		{a.URL, a.Token[:len(a.Token)-1], "want 91 letters", new(*TokenError)},
		{a.URL, a.Token[:30] + "AAAA" + a.Token[34:], "checksum is wrong", new(*TokenError)},
		{a.URL, "euryale-token-2.ü", "copy the leader's file", new(*TokenError)},
	} {
		_, err := Work(t.Context(), Access{URL: c.url, Token: c.token}, idle(t, f))
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, c.as) || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s, %q: %v, want %q", c.url, c.token, err, c.want)
		}
	}
	// Files of the leader.
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		os.Remove(name)
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	good, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key, token string
		mode       os.FileMode
		want       string
	}{
		{"", old + "\n", 0o600, "stop the leader, remove the files key and token"},
		{string(good), a.Token, 0o640, "mode 0640, want 0600"},
		{string(good), a.Token, 0o602, "mode 0602, want 0600"},
		{string(good), a.Token[:40], 0o600, "remove it, and the leader makes a new one"},
		{string(good[:20]), a.Token, 0o600, "remove it, and the leader makes a new key"},
		{written(keyPrefix, fresh().Seed()), a.Token, 0o600, "it is of another leader's key"},
	} {
		if c.key == "" {
			os.Remove(key)
		} else {
			write(key, c.key, 0o600)
		}
		write(token, c.token, c.mode)
		_, err := Lead(t.Context(), f.manifest(), set)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, new(*TokenError)) {
			t.Errorf("%q: %v", c.want, err)
		}
		if c.mode != 0o600 {
			if _, err := ReadToken(token); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
		}
	}
	// A leader that was killed while it wrote leaves an empty file. A removed token, or key, is made anew, and the former one is of no use.
	for _, prepare := range []func(){
		func() { write(key, "", 0o600); write(token, "", 0o600) },
		func() { write(key, string(good), 0o600); write(token, "", 0o600) },
		func() { os.Remove(token) },
		func() { os.Remove(key) },
	} {
		prepare()
		s, err := secretsIn(set.Folder)
		if err != nil {
			t.Fatal(err)
		}
		text, err := ReadToken(token)
		if again, e := secretsIn(set.Folder); err != nil || e != nil || text != s.token() || again.token() != text || text == a.Token {
			t.Errorf("%v, %v: token %s of leader with %s, before it was %s", err, e, text, s.token(), a.Token)
		}
		a.Token = text
	}
	if _, err := ReadToken(filepath.Join(set.Folder, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	write(token, "", 0o600)
	if _, err := ReadToken(token); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Error(err)
	}
}
