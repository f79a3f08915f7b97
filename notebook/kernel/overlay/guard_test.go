// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// attacked is a kernel in this process and a client of it.
type attacked struct {
	info         ConnectionInfo
	shell, iopub zmq4.Socket
	outputs      chan string
	replies      chan string
}

// attack starts the kernel. A process has one guard, so it is called once.
func attack(t *testing.T) *attacked {
	t.Helper()
	ports := make([]int, 5)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
		l.Close()
	}
	a := &attacked{info: ConnectionInfo{SignatureScheme: "hmac-sha256", Transport: "tcp", IP: "127.0.0.1", Key: "secret",
		ShellPort: ports[0], ControlPort: ports[1], StdinPort: ports[2], IOPubPort: ports[3], HBPort: ports[4]},
		outputs: make(chan string, 100), replies: make(chan string, 100)}
	file := filepath.Join(t.TempDir(), "connection.json")
	b, err := json.Marshal(a.info)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	go runKernel(file)
	a.shell = zmq4.NewDealer(t.Context())
	a.iopub = zmq4.NewSub(t.Context())
	for s, port := range map[zmq4.Socket]int{a.shell: ports[0], a.iopub: ports[3]} {
		if err := s.Dial(fmt.Sprintf("tcp://127.0.0.1:%d", port)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.iopub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		t.Fatal(err)
	}
	subscribed := make(chan struct{})
	var once sync.Once
	go a.listen(a.iopub, func(kind, text string) {
		once.Do(func() { close(subscribed) })
		if kind == "execute_result" || kind == "error" {
			a.outputs <- text
		}
	})
	go a.listen(a.shell, func(kind, text string) {
		if kind != "kernel_info_reply" {
			a.replies <- kind + " " + text
		}
	})
	for range 600 { // what is published before a subscription has arrived is lost
		if err := a.shell.SendMulti(zmq4.NewMsgFrom(a.signed("kernel_info_request", map[string]any{})...)); err != nil {
			t.Fatal(err)
		}
		select {
		case <-subscribed:
			return a
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatal("the kernel publishes nothing")
	return nil
}

func (a *attacked) listen(s zmq4.Socket, tell func(kind, text string)) {
	for {
		m, err := s.Recv()
		if err != nil {
			return
		}
		if _, parts := split(m.Frames); parts != nil {
			var header MsgHeader
			if json.Unmarshal(parts[1], &header) == nil {
				tell(header.MsgType, string(parts[4]))
			}
		}
	}
}

var messageNumber int

// signed returns the frames of a message from a front end.
func (a *attacked) signed(kind string, content any) [][]byte {
	messageNumber++
	header, _ := json.Marshal(MsgHeader{MsgID: strconv.Itoa(messageNumber), Session: "s", MsgType: kind, ProtocolVersion: "5.0"})
	body, _ := json.Marshal(content)
	parts := [][]byte{header, []byte("{}"), []byte("{}"), body}
	mac := hmac.New(sha256.New, []byte(a.info.Key))
	for _, p := range parts {
		mac.Write(p)
	}
	return append([][]byte{[]byte(delimiter), []byte(hex.EncodeToString(mac.Sum(nil)))}, parts...)
}

// run runs a cell and returns what it shows.
func (a *attacked) run(t *testing.T, code string) string {
	t.Helper()
	if err := a.shell.SendMulti(zmq4.NewMsgFrom(a.signed("execute_request", map[string]any{"code": code, "silent": false})...)); err != nil {
		t.Fatal(err)
	}
	select {
	case reply := <-a.replies:
		if !strings.HasPrefix(reply, "execute_reply") {
			t.Errorf("%s", reply)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("the kernel does not answer to %s", code)
	}
	select {
	case text := <-a.outputs:
		return text
	case <-time.After(30 * time.Second):
		t.Fatalf("nothing was shown by %s", code)
		return ""
	}
}

// dial opens a connection to a port and greets, if asked as a socket of a kind.
func dial(port int, kind string) (net.Conn, error) {
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil || kind == "" {
		return c, err
	}
	hello := make([]byte, greetingSize)
	hello[0], hello[9], hello[10] = 0xFF, 0x7F, 3
	copy(hello[12:], "NULL")
	ready := binary.BigEndian.AppendUint32([]byte("\x05READY\x0bSocket-Type"), uint32(len(kind)))
	ready = append(ready, kind...)
	_, err = c.Write(append(append(hello, flagCommand, byte(len(ready))), ready...))
	return c, err
}

// The kernel goes on, with its variables, under hostile frames on every port: EURYALE_HOSTILE_FRAMES of them each, or 500.
func TestHostileFrames(t *testing.T) {
	frames, lines := 500, 2
	if n, err := strconv.Atoi(os.Getenv("EURYALE_HOSTILE_FRAMES")); err == nil {
		frames, lines = n, 20
	}
	a := attack(t)
	if got := a.run(t, "x := 41\nx"); !strings.Contains(got, `"41"`) {
		t.Fatal(got)
	}
	heard := encode(a.signed("execute_request", map[string]any{"code": "x = 7\nx", "silent": false}))
	kinds := map[int]string{a.info.ShellPort: "DEALER", a.info.ControlPort: "DEALER", a.info.StdinPort: "DEALER", a.info.IOPubPort: "SUB", a.info.HBPort: "REQ"}
	var all sync.WaitGroup
	for port, kind := range kinds {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(port), 1))
			var c net.Conn
			for sent := 0; sent < frames; {
				if c == nil {
					var err error
					if c, err = dial(port, []string{kind, kind, kind, "PAIR", ""}[r.IntN(5)]); err != nil {
						t.Error(err)
						return
					}
					go io.Copy(io.Discard, c)
				}
				n := 1 + r.IntN(20)
				sent += n
				for range n {
					if _, err := c.Write(hostile(r, a)); err != nil {
						c.Close()
						c = nil
						break
					}
				}
				if c != nil && r.IntN(4) == 0 {
					c.Close()
					c = nil
				}
			}
			if c != nil {
				c.Close()
			}
		})
	}
	all.Wait()
	// What is signed and lacks its parts ends nothing, either.
	for _, kind := range []string{"execute_request", "is_complete_request", "complete_request", "kernel_info_request", "shutdown_request", "inspect_request"} {
		for _, content := range []any{map[string]any{}, map[string]any{"code": 1, "silent": "a", "restart": 3, "cursor_pos": -5}} {
			if err := a.shell.SendMulti(zmq4.NewMsgFrom(a.signed(kind, content)...)); err != nil {
				t.Fatal(err)
			}
		}
	}
	time.Sleep(300 * time.Millisecond)
	for len(a.replies) > 0 {
		<-a.replies
	}
	if got := a.run(t, "x + 1"); !strings.Contains(got, `"42"`) {
		t.Errorf("x + 1 is %s", got)
	}
	// A message that was heard on its way is taken once.
	for range 3 {
		c, err := dial(a.info.ShellPort, "DEALER")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(heard); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		c.Close()
	}
	if got := len(a.outputs); got != 1 {
		t.Errorf("a message that came three times ran %d times", got)
	}
	<-a.outputs
	// A thousand clients that subscribe and never read leave the others fluent; so do clients that say nothing.
	for range 1000 {
		c, err := dial(a.info.IOPubPort, "SUB")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte{0, 1, 1}); err != nil {
			t.Fatal(err)
		}
	}
	for port := range kinds {
		for range 50 {
			c, err := dial(port, "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
	}
	if got := a.run(t, fmt.Sprintf("import \"strings\"\nfor i := 0; i < %d; i++ { println(strings.Repeat(\"a\", 100000)) }\nx + 2", lines)); !strings.Contains(got, `"9"`) {
		t.Errorf("x + 2 is %s", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	beat := zmq4.NewReq(ctx)
	if err := beat.Dial(fmt.Sprintf("tcp://127.0.0.1:%d", a.info.HBPort)); err != nil {
		t.Fatal(err)
	}
	if err := beat.Send(zmq4.NewMsg([]byte("ping"))); err != nil {
		t.Fatal(err)
	}
	if m, err := beat.Recv(); err != nil || string(m.Frames[0]) != "ping" {
		t.Errorf("the heartbeat: %v, %v", m, err)
	}
}

// hostile returns bytes that a front end does not send.
func hostile(r *rand.Rand, a *attacked) []byte {
	long := func(flags byte, size uint64, body string) []byte {
		return append(binary.BigEndian.AppendUint64([]byte{flags}, size), body...)
	}
	switch r.IntN(9) {
	case 0:
		return long(flagLong, 1<<40, "a")
	case 1:
		return long(flagLong|flagMore, 1<<63, "")
	case 2:
		return []byte{0, 0, 1, 0, 4, 0, 5, 0} // empty frames and commands
	case 3:
		return encode([][]byte{[]byte(delimiter), []byte("00"), []byte("{}"), []byte("{}"), []byte("{}"), []byte(`{"code":"x = 0"}`)})
	case 4:
		return encode([][]byte{[]byte(delimiter), []byte("zz")})
	case 5:
		return encode(make([][]byte, 1+r.IntN(100)))
	case 6:
		return append([]byte{flagCommand, 40}, "\x04PING\x00\x01"+strings.Repeat("a", 33)...)
	case 7: // another message under a signature
		m := a.signedCopy()
		m[5] = []byte(`{"code":"x = 0","silent":false}`)
		return encode(m)
	}
	b := make([]byte, 1+r.IntN(100))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

var copied struct {
	sync.Once
	frames [][]byte
}

func (a *attacked) signedCopy() [][]byte {
	copied.Do(func() { copied.frames = a.signed("execute_request", map[string]any{"code": "1", "silent": false}) })
	return append([][]byte(nil), copied.frames...)
}
