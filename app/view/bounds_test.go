// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package view_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/runlock"
	"github.com/euryale-dev/euryale/internal/tier"
)

// Files of 2 GB that hold nothing are looked at without being read, and a hundred tabs are answered.
func TestManyTabsAndLargeFiles(t *testing.T) {
	tier.SlowOnly(t)
	dir, result, run := folder(t)
	for _, name := range []string{"big.json", "big.h5", "big.csv", "big.npy", "big.imm"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err == nil {
			err = f.Truncate(2 << 30)
		}
		if err != nil {
			t.Skipf("lacks a file system with sparse files: %v", err)
		}
		f.Close()
	}
	v := serve(t, dir)
	var tabs sync.WaitGroup
	for i := range 100 {
		tabs.Go(func() {
			if code, text := v.get("shelf", url.Values{}, nil); code != http.StatusOK || !strings.Contains(text, "a b.hdf") {
				t.Errorf("tab %d: %d: %.200s", i, code, text)
			}
			what := [][]string{{"plot", "g2", result}, {"plot", "g2", result, "--overlay"}, {"plot", "trace", run}, {"plot", "pair", run}}[i%4]
			if code, text := v.get("picture", line(what...), nil); code != http.StatusOK || !strings.Contains(text, "viewBox") {
				t.Errorf("tab %d: %v: %d: %.200s", i, what, code, text)
			}
		})
	}
	tabs.Wait()
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapSys > 1<<30 {
		t.Errorf("the page took %d MB", m.HeapSys>>20)
	}
}

// A page that is killed leaves the command that it started with what it needs to go on.
func TestPageIsKilled(t *testing.T) {
	dir, _, _ := folder(t)
	var stderr said
	c := exec.Command(os.Args[0], "view", "--no-browser", dir)
	c.Env, c.Stderr = append(os.Environ(), "EURYALE_TEST_COMMAND=1"), &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	await := func(what string, done func() bool) {
		t.Helper()
		for range 6000 {
			if done() {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatalf("%s: %s", what, stderr.String())
	}
	await("the page opens", func() bool { return address.MatchString(stderr.String()) })
	v := &view{t, address.FindString(stderr.String())}
	body, _ := json.Marshal(map[string]any{"command": "sample expr", "item": filepath.Join(dir, "line.json"), "flags": [][2]string{{"draws", "1000000"}, {"checkpoint", "10ms"}}, "out": "long"})
	out := filepath.Join(dir, "long")
	await("the file is listed", func() bool { _, text := v.get("shelf", url.Values{}, nil); return strings.Contains(text, "line.json") })
	if code, text := v.post("work", json.RawMessage(body)); code != http.StatusOK {
		t.Fatal(text)
	}
	await("a checkpoint is written", func() bool { return exists(filepath.Join(out, "checkpoint")) })
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	before, err := os.ReadFile(filepath.Join(out, "checkpoint"))
	if err != nil || len(before) == 0 {
		t.Fatalf("the checkpoint is lost: %v", err)
	}
	t.Cleanup(func() { // it may go on without the page
		var held *runlock.Held
		if lock, _, err := runlock.Acquire(out, "test"); errors.As(err, &held) && held.Owner != nil {
			syscall.Kill(held.Owner.PID, syscall.SIGKILL)
		} else if err == nil {
			lock.Release()
		}
	})
	w := serve(t, dir)
	await("the run can be resumed", func() bool {
		var item struct {
			Resume string
			Busy   bool
		}
		w.get("item", url.Values{"id": {out}}, &item)
		return item.Resume == "sample expr" || item.Busy
	})
}
