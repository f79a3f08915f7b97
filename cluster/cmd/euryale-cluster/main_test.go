// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/batch"
)

// kind is the kind of work of these tests.
type kind struct {
	Sleep  time.Duration
	Deadly int64 // item that ends its process; none if 0
	Bad    int64 // every so many items fail; none if 0
}

func (k *kind) Columns() []batch.Column { return []batch.Column{{Name: "value"}} }

func (k *kind) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	for i := items.Item; i < items.Item+items.Count && ctx.Err() == nil; i++ {
		time.Sleep(k.Sleep)
		switch {
		case k.Deadly > 0 && i == k.Deadly:
			fmt.Fprintln(os.Stderr, "a segmentation fault")
			os.Exit(3)
		case k.Bad > 0 && i%k.Bad == 1:
			put(batch.Record{Item: i, Err: "a bad item"})
		default:
			put(batch.Record{Item: i, Numbers: []float64{math.Sqrt(float64(i))}})
		}
	}
	return ctx.Err()
}

const commandVar = "EURYALE_TEST_COMMAND"

// TestMain lets the test binary be the command.
func TestMain(m *testing.M) {
	if os.Getenv(commandVar) == "" {
		os.Exit(m.Run())
	}
	open = func(m *batch.Manifest, may allowed) (batch.Task, error) {
		if m.Command != "test" {
			return openWork(m, may)
		}
		k := &kind{}
		return k, json.Unmarshal(m.Settings, k)
	}
	main()
}

// command is a process of the command.
type command struct {
	*exec.Cmd
	out, said bytes.Buffer
}

func start(t *testing.T, args ...string) *command {
	t.Helper()
	c := &command{Cmd: exec.Command(os.Args[0], args...)}
	c.Env = append(os.Environ(), commandVar+"=1", "EURYALE_TOKEN=")
	c.Stdout, c.Stderr = &c.out, &c.said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			c.Process.Kill()
			c.Wait()
		}
	})
	return c
}

// code waits for the end.
func (c *command) code() int { c.Wait(); return c.ProcessState.ExitCode() }

func manifest(t *testing.T, items int64, k kind) (path, store string) {
	t.Helper()
	settings, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path = filepath.Join(dir, "manifest.txt")
	if _, err := batch.Create(path, batch.Header{Command: "test", Settings: settings}, func(add func(string, int64, int64) error) error { return add("s", 0, items) }); err != nil {
		t.Fatal(err)
	}
	return path, filepath.Join(dir, "results")
}

// address waits for the leader's server.
func address(t *testing.T, l *command, store string) string {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if b, err := os.ReadFile(filepath.Join(store, "leader", "address")); err == nil {
			return "tls://" + strings.TrimSpace(string(b))
		}
	}
	t.Fatalf("no server: %s", l.said.String())
	return ""
}

// A leader, workers, an item that ends processes, and items that fail, as a user meets them.
func TestLeadAndWork(t *testing.T) {
	path, store := manifest(t, 500, kind{Sleep: time.Millisecond, Deadly: 77, Bad: 100})
	l := start(t, "lead", path, "--patience", "500ms", "--block", "20ms")
	url, token := address(t, l, store), filepath.Join(store, "leader", "token")
	var workers []*command
	for range 2 {
		workers = append(workers, start(t, "work", url, "--token-file", token, "--wait", "10s", "--threads", "1", "--json"))
	}
	early := start(t, "work", url, "--token-file", token, "--wait", "10s", "--threads", "1")
	time.Sleep(150 * time.Millisecond)
	early.Process.Signal(syscall.SIGTERM)
	if code := early.code(); code != 0 && code != 3 && code != -1 { // it may have had the item that ends processes, or not have begun
		t.Errorf("exit %d: %s", code, early.said.String())
	}
	for range 3 { // in place of those that died
		for i, w := range workers {
			if code := w.code(); code == 3 {
				workers[i] = start(t, "work", url, "--token-file", token, "--json")
			}
		}
	}
	if code := l.code(); code != 0 {
		t.Fatalf("exit %d: %s", code, l.said.String())
	}
	if out := l.out.String(); out != "500 items are done, 6 of them failed. Results: "+store+"\n" {
		t.Error(out)
	}
	said := l.said.String()
	for _, want := range []string{"Start workers with: euryale-cluster work tls://127.0.0.1:", "this machine only", "item 1: a bad item\n", "item 401: a bad item\n", "item 77: the separate process for this item ended: exit status 3: a segmentation fault"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
	for _, w := range workers {
		var did struct {
			Items int64
			Ended bool
		}
		if strings.Contains(w.said.String(), "the leader may have ended") || strings.Contains(w.said.String(), "no server answers") {
			continue // it came in place of one that died, and too late
		}
		if err := json.Unmarshal(w.out.Bytes(), &did); err != nil || !did.Ended {
			t.Errorf("%v: %s%s", err, w.out.String(), w.said.String())
		}
	}
	// Once more there is nothing to do.
	l = start(t, "lead", path, "--json", "--strict")
	if code := l.code(); code != 1 || strings.Count(l.out.String(), `"error"`) != 6 {
		t.Errorf("exit %d: %s", code, l.out.String())
	}
}

// An interrupted leader goes on when it is called again.
func TestInterruptedLeader(t *testing.T) {
	path, store := manifest(t, 300, kind{Sleep: time.Millisecond})
	l := start(t, "lead", path, "--block", "20ms")
	url := address(t, l, store)
	w := start(t, "work", url, "--token-file", filepath.Join(store, "leader", "token"), "--wait", "10s", "--threads", "1")
	time.Sleep(200 * time.Millisecond)
	l.Process.Signal(os.Interrupt)
	if code := l.code(); code != exitInterrupted || !strings.Contains(l.said.String(), "Try: run the same command again") {
		t.Errorf("exit %d: %s", code, l.said.String())
	}
	l = start(t, "lead", path, "--block", "20ms", "--quiet")
	if code := l.code(); code != 0 || l.said.String() != "" || !strings.HasPrefix(l.out.String(), "300 items are done, 0 of them failed") {
		t.Errorf("exit %d: %s%s", code, l.out.String(), l.said.String())
	}
	if code := w.code(); code != 0 || !strings.HasSuffix(w.out.String(), "The run is complete.\n") {
		t.Errorf("exit %d: %s%s", code, w.out.String(), w.said.String())
	}
}

// What is wrong has its exit code and says what to do.
func TestFaults(t *testing.T) {
	path, store := manifest(t, 100, kind{})
	other, _ := manifest(t, 101, kind{})
	l := start(t, "lead", path)
	url, token := address(t, l, store), filepath.Join(store, "leader", "token")
	wrong := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(wrong, []byte("something else\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	former := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(former, []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZ\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	third, thirds := manifest(t, 102, kind{})
	another := start(t, "lead", third)
	address(t, another, thirds)
	strangers := filepath.Join(thirds, "leader", "token")
	good, err := os.ReadFile(token)
	if err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(shared, good, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"work nats://127.0.0.1:1 --token-file " + token, exitNoServer, "no server answers.*\nTry: add --wait"},
		{"work " + url, exitConfig, "without the token of the leader"},
		{"work " + url + " --token-file " + wrong, exitConfig, "without the token of the leader"},
		{"work " + strings.Replace(url, "tls:", "nats:", 1) + " --token-file " + wrong, exitConfig, "would be sent to nats://.* unencrypted"},
		{"work " + strings.Replace(url, "tls:", "nats:", 1) + " --token-file " + former, exitConfig, former + " is of a version of this program that sent its token"},
		{"work " + url + " --token-file " + strangers, exitConfig, "does not prove that it is the leader of this token"},
		{"work " + url + " --token-file " + shared, exitConfig, "mode 0644, want 0600"},
		{"work " + url + " --token-file /none", exitNoInput, "no such file"},
		{"work " + url + " --wait 5s --token-file " + token + " --manifest " + other, exitConfig, "this worker has the manifest"},
		{"work " + url + " --wait 5s --token-file " + token + " --manifest /none", exitNoInput, "no such file"},
		{"work", exitUsage, "accepts 1 arg"},
		{"work x --nothing", exitUsage, "unknown flag"},
		{"", exitUsage, "use lead, work"},
		{"lend", exitUsage, "unknown command"},
		{"lead /none", exitNoInput, "no such file"},
		{"lead " + path, exitFailed, "euryale-cluster lead"},
		{"lead " + other + " --store " + filepath.Dir(other) + "/x --listen nowhere", exitFailed, "want an address and a port"},
		{"lead " + other + " --store " + filepath.Dir(other) + "/x --listen " + strings.TrimPrefix(url, "tls://"), exitFailed, "another program uses the address"},
		{"lead " + path + " --server a --listen b", exitUsage, "give only one of them"},
		{"lead " + path + " --creds b", exitUsage, "are only for --server"},
		{"fetch s3 x", exitUsage, "is not a URL"},
		{"fetch ftp://a x", exitUsage, "unknown kind of store"},
		{"fetch file:///none x", exitNoInput, "no such file"},
		{"push /none file:///none", exitNoInput, "no such file"},
		{"apart " + path + " " + store, exitUsage, "standard input"},
	} {
		p := start(t, strings.Fields(c.args)...)
		if code := p.code(); code != c.code || !regexp.MustCompile(c.want).MatchString(p.said.String()) {
			t.Errorf("%s: exit %d, want %d: %s", c.args, code, c.code, p.said.String())
		}
	}
}

// Files come to a store and back.
func TestPushAndFetch(t *testing.T) {
	from, bucket, to := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "to")
	if err := os.WriteFile(filepath.Join(from, "one"), []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := start(t, "push", from, "file://"+bucket)
	if code := p.code(); code != 0 || p.out.String() != "1 files (1e-06 MB) were copied; 0 were there already.\n" {
		t.Errorf("exit %d: %s%s", code, p.out.String(), p.said.String())
	}
	p = start(t, "fetch", "file://"+bucket, to, "--json")
	if code := p.code(); code != 0 || p.out.String() != `{"Files":1,"Bytes":1,"Same":0}`+"\n" {
		t.Errorf("exit %d: %s%s", code, p.out.String(), p.said.String())
	}
	if b, err := os.ReadFile(filepath.Join(to, "one")); err != nil || string(b) != "1" {
		t.Error(err)
	}
}
