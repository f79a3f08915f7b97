// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/transport"
)

// The ports of a kernel are open to everyone who can reach them, and the ZeroMQ library behind them believes what arrives: it
// reserves the memory that a frame announces, greets one client after the other, and waits for those that do not read. Here
// everything passes a guard first: only whole greetings and whole messages of the right kind, signed where Jupyter signs them, get on.

// mostConnections is the number of connections that a port holds. Others are refused.
const mostConnections = 4096

// door is what a port lets in, and what it has refused.
type door struct {
	name    string
	peers   []string                   // socket types of clients
	largest int                        // bytes of a message
	accepts func(frames [][]byte) bool // whether a message is of the right kind
	open    atomic.Int64               // connections
	refused atomic.Int64
}

// guarded returns the pattern of the addresses of a kernel's sockets, of which a guard reads everything.
func guarded(info ConnectionInfo) string {
	network, separator := "tcp", ":"
	if info.Transport == "ipc" {
		network, separator = "unix", "-"
	}
	if info.Key == "" {
		log.Print("This kernel has no key to check signatures with: anyone who reaches its ports can run code.")
	}
	s := &signatures{key: []byte(info.Key), seen: map[[32]byte]bool{}}
	signed := func(name string) *door {
		return &door{name: name, peers: []string{"DEALER", "REQ", "ROUTER"}, largest: 64 << 20, accepts: s.accepts}
	}
	g := &doors{network: network, byAddress: map[string]*door{}}
	for port, d := range map[int]*door{
		info.ShellPort:   signed("shell"),
		info.ControlPort: signed("control"),
		info.StdinPort:   signed("stdin"),
		info.IOPubPort:   {name: "iopub", peers: []string{"SUB", "XSUB"}, largest: 256, accepts: isTopic},
		info.HBPort:      {name: "heartbeat", peers: []string{"REQ", "DEALER"}, largest: 4096, accepts: isEcho},
	} {
		g.byAddress[fmt.Sprint(info.IP, separator, port)] = d
	}
	if err := zmq4.RegisterTransport("guarded", g); err != nil {
		log.Fatal(err)
	}
	return "guarded://" + info.IP + separator + "%v"
}

// doors is a transport of the ZeroMQ library.
type doors struct {
	network   string
	byAddress map[string]*door
}

func (g *doors) Addr(ep string) (string, error) { return ep, nil }

func (g *doors) Dial(ctx context.Context, dialer transport.Dialer, addr string) (net.Conn, error) {
	return dialer.DialContext(ctx, g.network, addr)
}

func (g *doors) Listen(_ context.Context, addr string) (net.Listener, error) {
	d := g.byAddress[addr]
	if d == nil {
		return nil, fmt.Errorf("no socket of the kernel has the address %s", addr)
	}
	l, err := net.Listen(g.network, addr)
	if err != nil {
		return nil, err
	}
	inner := &guardedListener{Listener: l, door: d, greeted: make(chan net.Conn), closed: make(chan struct{})}
	go inner.admit()
	return inner, nil
}

// guardedListener hands on the connections whose greeting is whole and right. Any number may take their time over it.
type guardedListener struct {
	net.Listener
	door    *door
	greeted chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func (l *guardedListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.greeted:
		return c, nil
	case <-l.closed:
		time.Sleep(50 * time.Millisecond) // the library asks again at once
		return nil, net.ErrClosed
	}
}

func (l *guardedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// admit takes connections until the listener is closed.
func (l *guardedListener) admit() {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			select {
			case <-l.closed:
				return
			case <-time.After(20 * time.Millisecond): // no file descriptor is left: others will be closed
				continue
			}
		}
		if l.door.open.Add(1) > mostConnections {
			l.door.refuse("there are %d connections already", mostConnections)
			l.door.open.Add(-1)
			c.Close()
			continue
		}
		go func() {
			g := newGuardedConn(c, l.door)
			if err := g.greet(); err != nil {
				l.door.refuse("%v", err)
				g.Close()
				return
			}
			select {
			case l.greeted <- g:
			case <-l.closed:
				g.Close()
			}
		}()
	}
}

// refuse counts what was refused and tells of the first ones, then of every thousandth.
func (d *door) refuse(format string, args ...any) {
	if n := d.refused.Add(1); n <= 3 || n%1000 == 0 {
		log.Printf("%s: refused (number %d): %s", d.name, n, fmt.Sprintf(format, args...))
	}
}
