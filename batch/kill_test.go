// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package batch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be a worker, for tests that kill it.
func TestMain(m *testing.M) {
	if path := os.Getenv("EURYALE_TEST_MANIFEST"); path != "" {
		work(path)
	}
	os.Exit(m.Run())
}

// work does a shard; its items 7 and 300 end the process.
func work(path string) {
	m, err := Open(path)
	if err == nil {
		index, _ := strconv.Atoi(os.Getenv("EURYALE_TEST_SHARD"))
		deadly := sines{slow: 200 * time.Microsecond, poisoned: func(i int64) bool {
			if os.Getenv("EURYALE_TEST_DEADLY") != "" && (i == 7 || i == 300) {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return i == 11
		}}
		if item := os.Getenv("EURYALE_TEST_ITEM"); item != "" {
			k, _ := strconv.ParseInt(item, 10, 64)
			if err := Alone(context.Background(), m, deadly, k, os.Stdout); err != nil {
				panic(err)
			}
			os.Exit(0)
		}
		alone := func(ctx context.Context, items Range) *exec.Cmd {
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), fmt.Sprintf("EURYALE_TEST_ITEM=%d", items.Item))
			return cmd
		}
		_, err = Run(context.Background(), m, deadly, Settings{Store: Store(filepath.Join(filepath.Dir(path), "results")), Shard: Shard{Index: index, Count: 2}, Workers: 2, Every: time.Millisecond, Alone: alone})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func worker(m *Manifest, shard int, more ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	// The race detector sleeps a second before a process ends, unless told not to.
	cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", "EURYALE_TEST_MANIFEST="+m.path, fmt.Sprintf("EURYALE_TEST_SHARD=%d", shard)), more...)
	return cmd
}

// Workers that are killed at random moments lose and double nothing.
func TestKilledWorkersLoseNothing(t *testing.T) {
	m := list(t, 800, Header{})
	rng := rand.New(rand.NewPCG(1, 9))
	kills := 0
	for shard := range 2 {
		for {
			cmd := worker(m, shard)
			var said strings.Builder
			cmd.Stderr = &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case err := <-ended:
				if err != nil {
					t.Fatal(err, said.String())
				}
			case <-time.After(time.Duration(10+rng.IntN(80+10*kills)) * time.Millisecond):
				cmd.Process.Kill()
				if err := <-ended; err != nil {
					kills++
					continue
				}
			}
			break
		}
	}
	got := merged(t, Store(filepath.Join(filepath.Dir(m.path), "results")), m)
	whole := Store(t.TempDir())
	if _, err := Run(context.Background(), m, sines{poisoned: func(i int64) bool { return i == 11 }}, Settings{Store: whole, Shard: Whole}); err != nil {
		t.Fatal(err)
	}
	same(t, fmt.Sprint(kills, " kills"), got, merged(t, whole, m))
	if kills == 0 {
		t.Error("no worker was killed")
	}
}

// An item that ends every process that works on it is given up after some of them, and all others have
// their results.
func TestDeadlyItemsAreGivenUp(t *testing.T) {
	m := list(t, 400, Header{Retries: 2})
	for shard := range 2 {
		for try := 0; ; try++ {
			out, err := worker(m, shard, "EURYALE_TEST_DEADLY=1").CombinedOutput()
			if err == nil {
				break
			}
			if try > 12 {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	for i, r := range merged(t, Store(filepath.Join(filepath.Dir(m.path), "results")), m) {
		if deadly := i == 7 || i == 300; deadly != strings.Contains(r.Err, "ended: signal: killed") || !deadly && i != 11 && r.Err != "" {
			t.Errorf("item %d: %q", i, r.Err)
		}
	}
}

// A pipe in place of a file of a shard, which would never answer, is told or replaced.
func TestPipes(t *testing.T) {
	m := list(t, 20, Header{})
	store := Store(t.TempDir())
	folder := filepath.Join(string(store), Whole.String()+partial)
	pipe := func(name string) string {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		name = filepath.Join(folder, name)
		if out, err := exec.Command("mkfifo", name).CombinedOutput(); err != nil {
			t.Skipf("no pipes here: %v %s", err, out)
		}
		return name
	}
	bad := pipe(deathsName)
	if _, err := Run(context.Background(), m, sines{}, Settings{Store: store, Shard: Whole}); err == nil || !strings.Contains(err.Error(), "is a pipe") {
		t.Fatal(err)
	}
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
	pipe(flightName)
	if p, err := Run(context.Background(), m, sines{}, Settings{Store: store, Shard: Whole}); err != nil || p.Done != 20 {
		t.Fatal(p, err)
	}
}
