// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/runlock"
)

func quickClaims(t *testing.T) {
	a, b := beat, deadAfter
	beat, deadAfter = 5*time.Millisecond, 150*time.Millisecond
	t.Cleanup(func() { beat, deadAfter = a, b })
}

// A claim is held by one as long as its file is touched, and taken over from a process or a machine that
// has ended.
func TestClaims(t *testing.T) {
	quickClaims(t)
	path := filepath.Join(t.TempDir(), "a.claim")
	var c, other Claims
	k, err := c.Take(path)
	if err != nil || k == nil {
		t.Fatal(k, err)
	}
	for until := time.Now().Add(2 * deadAfter); time.Now().Before(until); time.Sleep(deadAfter / 10) {
		if again, err := other.Take(path); again != nil || err != nil {
			t.Fatal("a claim that is held was taken", err)
		}
	}
	if err := k.Release(); err != nil {
		t.Fatal(err)
	}
	if k, err = other.Take(path); err != nil || k == nil {
		t.Fatal(k, err)
	}
	k.Release()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}

	left := `{"pid": 1, "host": "elsewhere.example", "token": "x"}`
	if err := os.WriteFile(path, []byte(left), 0o644); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	k, err = c.Wait(context.Background(), path, func() (bool, error) { return false, nil })
	if err != nil || k == nil || time.Since(begin) < deadAfter {
		t.Fatal(k, err, time.Since(begin))
	}
	// Somebody who was thought to be dead writes again: then it is theirs.
	if err := os.WriteFile(path, []byte(left), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := k.Release(); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != left {
		t.Errorf("the claim of somebody else is %q, %v", b, err)
	}
	calls := 0
	k, err = (&Claims{}).Wait(context.Background(), path, func() (bool, error) { calls++; return calls == 3, nil })
	if k != nil || err != nil {
		t.Error(k, err)
	}

	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	text := strings.NewReplacer("1", strconv.Itoa(ended.Process.Pid), "elsewhere.example", host).Replace(left)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if k, err = c.Take(path); err != nil || k == nil {
		t.Fatal("a claim of a process that has ended was not taken", err)
	}
	k.Release()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	os.WriteFile(path, []byte(left), 0o644)
	if _, err := c.Wait(ctx, path, func() (bool, error) { return false, nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A claim whose holder has a clock that is an hour off is held as long as it is touched, and not longer.
func TestClaimsOfOtherClocks(t *testing.T) {
	quickClaims(t)
	for _, off := range []time.Duration{-time.Hour, time.Hour} {
		path := filepath.Join(t.TempDir(), "a.claim")
		if err := os.WriteFile(path, []byte(`{"pid": 1, "host": "elsewhere.example", "token": "x"}`), 0o644); err != nil {
			t.Fatal(err)
		}
		var c Claims
		for until := time.Now().Add(2 * deadAfter); time.Now().Before(until); time.Sleep(deadAfter / 10) {
			now := time.Now().Add(off) // its holder touches it before every look, however slow this machine is
			if err := os.Chtimes(path, now, now); err != nil {
				t.Fatal(err)
			}
			if k, err := c.Take(path); k != nil || err != nil {
				t.Fatalf("%v off: a claim that is held was taken: %v", off, err)
			}
		}
		if k, err := c.Wait(t.Context(), path, func() (bool, error) { return false, nil }); k == nil || err != nil {
			t.Fatalf("%v off: a claim that was left is not taken: %v", off, err)
		} else if err := k.Release(); err != nil {
			t.Error(err)
		}
	}
}

// A shard that a machine left when it died is gone on with, one that another machine works on is not.
func TestShardsOfOtherMachines(t *testing.T) {
	quickClaims(t)
	m := list(t, 50, Header{})
	store := Store(t.TempDir())
	folder := filepath.Join(string(store), Whole.String()+partial)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(folder, runlock.Name)
	if err := os.WriteFile(lock, []byte(`{"pid": 1, "host": "elsewhere.example", "command": "x"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var touching sync.WaitGroup
	every := beat
	touching.Go(func() { touch(lock, every, stop) })
	var held *runlock.Held
	if _, err := Run(context.Background(), m, sines{}, Settings{Store: store, Shard: Whole}); !errors.As(err, &held) || !held.Elsewhere {
		t.Fatal(err)
	}
	close(stop)
	touching.Wait()
	if p, err := Run(context.Background(), m, sines{}, Settings{Store: store, Shard: Whole}); err != nil || p.Done != 50 {
		t.Fatal(p, err)
	}
	merged(t, store, m)
}
