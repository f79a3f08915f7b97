// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"crypto/tls"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Files of the leader's folder.
const (
	addressFile = "address"
	serverData  = "jetstream"
)

// serve starts a server whose data, keys and address are in a folder, so that the next leader has the
// same. Only who has the token can connect to it. Where no port is asked for it takes a free one below those that systems give to outgoing
// connections, and the same again.
func serve(folder, listen string) (*server.Server, Access, error) {
	var a Access
	host, port, err := net.SplitHostPort(listen)
	if err != nil || host == "" {
		return nil, a, fmt.Errorf("cannot listen on %q: want an address and a port, such as 127.0.0.1:0 or 0.0.0.0:4222", listen)
	}
	known, err := secretsIn(folder)
	if err != nil {
		return nil, a, err
	}
	a.Token = known.token()
	secure, err := known.server()
	if err != nil {
		return nil, a, err
	}
	address := filepath.Join(folder, addressFile)
	if port == "0" {
		before, _ := foreign.ReadFile(address)
		if h, p, err := net.SplitHostPort(strings.TrimSpace(string(before))); err == nil && h == host {
			port = p
		}
	}
	for try := 0; ; try++ {
		p := port
		if port == "0" {
			p = strconv.Itoa(20000 + mathrand.IntN(12000))
		}
		l, err := net.Listen("tcp", net.JoinHostPort(host, p))
		if err == nil {
			port = p
			l.Close()
			break
		}
		if port != "0" || try > 100 {
			return nil, a, fmt.Errorf("%w: another program uses the address, or this machine does not have it: give --listen another one (workers that are already running look for the old one)", err)
		}
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, a, fmt.Errorf("the port is %q: want a number", port)
	}
	ns, err := server.NewServer(options(host, number, filepath.Join(folder, serverData), secure))
	if err != nil {
		return nil, a, err
	}
	ns.Start()
	if !ns.ReadyForConnections(20*time.Second) || !ns.JetStreamEnabled() {
		ns.Shutdown()
		return nil, a, fmt.Errorf("the server did not start within 20 s with its data in %s: check whether the disk is full or slow", filepath.Join(folder, serverData))
	}
	if err := atomicfile.WriteBytes(address, []byte(net.JoinHostPort(host, port)+"\n")); err != nil {
		ns.Shutdown()
		return nil, a, err
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	a.URL = "tls://" + net.JoinHostPort(host, port)
	return ns, a, nil
}

// Settings of the server; docs/decisions/0023-cluster-queue.md says why they are as they are.
const (
	// largestMessage bounds a message in bytes. The longest one lists every other item of a file of results.
	largestMessage = 4 << 20
	// syncEvery is how often the server syncs its data to the disk.
	syncEvery = 2 * time.Minute
	// handshake is how long a machine under load may take for a handshake, in s.
	handshake = 10
)

func options(host string, port int, folder string, secure *tls.Config) *server.Options {
	return &server.Options{
		ServerName: "euryale", Host: host, Port: port,
		TLS: true, TLSConfig: secure, TLSHandshakeFirst: true, TLSTimeout: handshake, AuthTimeout: handshake + 1,
		MaxPayload: largestMessage, MaxControlLine: 4096,
		JetStream: true, StoreDir: folder, SyncInterval: syncEvery,
		NoLog: true, NoSigs: true,
	}
}
