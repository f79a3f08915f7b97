// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Of ZMTP 3.0 (https://rfc.zeromq.org/spec/23/).
const (
	greetingSize = 64
	flagMore     = 1
	flagLong     = 2
	flagCommand  = 4

	mostFrames  = 64        // of a message
	mostArrived = 256 << 20 // bytes of unfinished messages, of all connections
	mostPending = 1 << 30   // bytes that wait to be read, of all connections
	forFrame    = 30 * time.Second
	forReader   = 10 * time.Second // after which a client that does not read loses its connection, if bytes above slack wait for it
	slack       = 1 << 20
)

var arrived, pending atomic.Int64

// guardedConn is a connection from which the library reads whole messages only, and to which it writes without ever waiting.
type guardedConn struct {
	net.Conn
	door *door
	in   *bufio.Reader
	rest []byte // of what is handed on

	mu       sync.Mutex
	wake     *sync.Cond
	out      [][]byte
	waiting  int       // bytes of out, and of what is being written
	progress time.Time // when the client last read, or had nothing to read
	skip     int       // bytes of the library's greeting, which has been sent
	closed   bool
}

func newGuardedConn(c net.Conn, d *door) *guardedConn {
	g := &guardedConn{Conn: c, door: d, in: bufio.NewReader(c), skip: greetingSize}
	g.wake = sync.NewCond(&g.mu)
	go g.writeOut()
	return g
}

// greet exchanges greetings and takes the client's READY. The library will read both, without the client's identity: two clients
// of one identity would get each other's answers.
func (g *guardedConn) greet() error {
	hello := make([]byte, greetingSize)
	hello[0], hello[9], hello[10] = 0xFF, 0x7F, 3
	copy(hello[12:], "NULL")
	g.queue(hello)
	if err := g.SetReadDeadline(time.Now().Add(forFrame)); err != nil {
		return err
	}
	theirs := make([]byte, greetingSize)
	if _, err := io.ReadFull(g.in, theirs); err != nil {
		return fmt.Errorf("the greeting did not arrive: %w", err)
	}
	if theirs[0] != 0xFF || theirs[9] != 0x7F || theirs[10] < 3 || string(theirs[12:17]) != "NULL\x00" || theirs[32] > 1 {
		return errors.New("the greeting is none of ZeroMQ 3.0 without encryption")
	}
	flags, body, err := g.frame(1024)
	if err != nil {
		return err
	}
	arrived.Add(-int64(len(body)))
	properties, ok := readReady(flags, body)
	if !ok || !slices.Contains(g.door.peers, properties["socket-type"]) {
		return fmt.Errorf("a socket of type %.20q was announced: want one of %v", properties["socket-type"], g.door.peers)
	}
	ready := []byte("\x05READY\x0bSocket-Type")
	ready = binary.BigEndian.AppendUint32(ready, uint32(len(properties["socket-type"])))
	ready = append(ready, properties["socket-type"]...)
	g.rest = append(append(theirs, flagCommand, byte(len(ready))), ready...)
	return g.SetReadDeadline(time.Time{})
}

// Read reads from the last accepted message, or waits for the next one.
func (g *guardedConn) Read(p []byte) (int, error) {
	if len(g.rest) == 0 {
		frames, err := g.message()
		if err != nil {
			return 0, err
		}
		g.rest = encode(frames)
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// message returns the next message that the door accepts. Commands are answered or dropped.
func (g *guardedConn) message() ([][]byte, error) {
	var frames [][]byte
	size := 0
	drop := func() {
		arrived.Add(-int64(size))
		frames, size = nil, 0
	}
	defer func() { drop() }()
	for {
		if frames == nil { // between messages a client may be silent
			if err := g.SetReadDeadline(time.Time{}); err != nil {
				return nil, err
			}
			if _, err := g.in.Peek(1); err != nil {
				return nil, err
			}
		}
		flags, body, err := g.frame(g.door.largest - size)
		if err != nil {
			if errors.Is(err, errRefused) {
				g.door.refuse("%v", err)
			}
			return nil, err
		}
		if flags&flagCommand != 0 {
			arrived.Add(-int64(len(body)))
			if frames != nil || flags&flagMore != 0 {
				g.door.refuse("a command within a message")
				return nil, errRefused
			}
			if len(body) >= 7 && string(body[:5]) == "\x04PING" { // the name, two bytes of a time to live, and what to send back
				pong := append([]byte("\x04PONG"), body[7:min(len(body), 23)]...)
				g.queue(append([]byte{flagCommand, byte(len(pong))}, pong...))
			}
			continue
		}
		size += len(body)
		if frames = append(frames, body); len(frames) > mostFrames {
			g.door.refuse("a message of more than %d frames", mostFrames)
			return nil, errRefused
		}
		if flags&flagMore != 0 {
			continue
		}
		if g.door.accepts(frames) {
			return frames, nil
		}
		g.door.refuse("a message that has no valid signature, came before, or is of the wrong kind (%d frames, %d bytes)", len(frames), size)
		drop()
	}
}

var errRefused = errors.New("refused")

// frame reads a frame of at most limit bytes, whose memory grows with what arrives, not with what it announces. Its bytes are counted
// in arrived.
func (g *guardedConn) frame(limit int) (flags byte, body []byte, err error) {
	if err := g.SetReadDeadline(time.Now().Add(forFrame)); err != nil {
		return 0, nil, err
	}
	var header [9]byte
	if _, err := io.ReadFull(g.in, header[:2]); err != nil {
		return 0, nil, err
	}
	flags = header[0]
	size := uint64(header[1])
	if flags&flagLong != 0 {
		if _, err := io.ReadFull(g.in, header[2:]); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(header[1:])
	}
	if flags&^(flagMore|flagLong|flagCommand) != 0 {
		return 0, nil, fmt.Errorf("%w: a frame with flags %#x", errRefused, flags)
	}
	if size > uint64(max(0, limit)) {
		return 0, nil, fmt.Errorf("%w: a frame of %d bytes, where %d may come", errRefused, size, max(0, limit))
	}
	defer func() {
		if err != nil {
			arrived.Add(-int64(len(body)))
		}
	}()
	const step = 1 << 20
	for uint64(len(body)) < size {
		n := int(min(size-uint64(len(body)), step))
		if arrived.Add(int64(n)) > mostArrived {
			arrived.Add(-int64(n))
			return 0, body, fmt.Errorf("%w: unfinished messages already take %d bytes", errRefused, mostArrived)
		}
		body = append(body, make([]byte, n)...)
		if err := g.SetReadDeadline(time.Now().Add(forFrame)); err != nil {
			return 0, body, err
		}
		if _, err := io.ReadFull(g.in, body[len(body)-n:]); err != nil {
			return 0, body, err
		}
	}
	return flags, body, nil
}

// Write leaves p to be sent. It never waits and never fails: what is left for a client that has gone is forgotten, as ZeroMQ has it.
func (g *guardedConn) Write(p []byte) (int, error) {
	n := len(p)
	g.mu.Lock()
	k := min(g.skip, n)
	g.skip -= k
	g.mu.Unlock()
	g.queue(p[k:])
	return n, nil
}

func (g *guardedConn) queue(p []byte) {
	if len(p) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	if g.waiting == 0 {
		g.progress = time.Now()
	}
	all := pending.Add(int64(len(p)))
	g.waiting += len(p)
	if g.waiting > slack && (all > mostPending || time.Since(g.progress) > forReader) {
		g.door.refuse("a client that has not read for %.0f s, while %d bytes wait for it", time.Since(g.progress).Seconds(), g.waiting)
		g.close()
		return
	}
	g.out = append(g.out, append([]byte(nil), p...))
	g.wake.Signal()
}

// writeOut writes what is queued until the connection is closed.
func (g *guardedConn) writeOut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		for len(g.out) == 0 && !g.closed {
			g.wake.Wait()
		}
		if g.closed {
			return
		}
		p := g.out[0]
		g.out = g.out[1:]
		g.mu.Unlock()
		n, err := 0, error(nil)
		for n < len(p) && err == nil {
			var k int
			k, err = g.Conn.Write(p[n:min(len(p), n+64<<10)])
			n += k
			g.mu.Lock()
			g.progress = time.Now()
			g.mu.Unlock()
		}
		g.mu.Lock()
		if err != nil {
			g.close()
			return
		}
		if !g.closed {
			g.waiting -= len(p)
			pending.Add(-int64(len(p)))
		}
	}
}

// Close closes the connection and forgets what waits.
func (g *guardedConn) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.close()
	return nil
}

func (g *guardedConn) close() {
	if g.closed {
		return
	}
	g.closed = true
	pending.Add(-int64(g.waiting))
	g.out, g.waiting = nil, 0
	g.wake.Broadcast()
	g.Conn.Close()
	g.door.open.Add(-1)
}

// flush waits until clients have been sent everything, or for a second.
func flush() {
	for end := time.Now().Add(time.Second); pending.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}
