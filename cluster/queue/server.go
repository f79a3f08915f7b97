// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
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
	tokenFile   = "token"
	addressFile = "address"
	serverData  = "jetstream"
)

// serve starts a server whose data, token and address are in a folder, so that the next leader has the
// same. Where no port is asked for it takes a free one below those that systems give to outgoing
// connections, and the same again.
func serve(folder, listen string) (*server.Server, Access, error) {
	var a Access
	host, port, err := net.SplitHostPort(listen)
	if err != nil || host == "" {
		return nil, a, fmt.Errorf("cannot listen on %q: want an address and a port, such as 127.0.0.1:0 or 0.0.0.0:4222", listen)
	}
	if a.Token, err = token(filepath.Join(folder, tokenFile)); err != nil {
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
	ns, err := server.NewServer(&server.Options{
		ServerName: "euryale", Host: host, Port: number, Authorization: a.Token,
		JetStream: true, StoreDir: filepath.Join(folder, serverData),
		NoLog: true, NoSigs: true,
	})
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
	a.URL = "nats://" + net.JoinHostPort(host, port)
	return ns, a, nil
}

// token reads the token of a file, or makes one that only the user can read.
func token(name string) (string, error) {
	for {
		b, err := foreign.ReadFile(name)
		if text := strings.TrimSpace(string(b)); err == nil && text != "" {
			return text, os.Chmod(name, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		os.Remove(name) // an empty one, of a leader that was killed
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		_, err = f.WriteString(rand.Text() + "\n")
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return "", err
		}
	}
}
