// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix && slow

package queue

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Workers and leaders are killed all the time, some items end their processes and some fail: every item
// has its result, and those that did nothing wrong the right one.
func TestStorm(t *testing.T) {
	deadly := []int64{100, 5000, 5001, 19_999}
	f, m := list(t, 20_000, behaviour{Sleep: 300 * time.Microsecond, Deadly: deadly, Poisoned: 100})
	rng := rand.New(rand.NewPCG(2, 1))
	var mu sync.Mutex
	var cmd *exec.Cmd
	var said *strings.Builder
	launch := func() {
		mu.Lock()
		defer mu.Unlock()
		cmd, said = f.process(t, "lead")
	}
	launch()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(string(f.store()), "leader", addressFile)); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no server")
		}
	}
	workers := keep(t, f, 4)
	leaders := 0
	ended := make(chan error, 1)
	wait := func() { c := cmd; go func() { ended <- c.Wait() }() }
	wait()
	for done := false; !done; {
		select {
		case err := <-ended:
			if err == nil {
				done = true
				break
			}
			if err.Error() != "signal: killed" {
				t.Fatal(err, said)
			}
			leaders++
			launch()
			wait()
		case <-time.After(time.Duration(30+rng.IntN(100)) * time.Millisecond):
			workers.mu.Lock()
			died := workers.died
			workers.mu.Unlock()
			switch {
			case died > 150:
			case rng.IntN(15) == 0:
				cmd.Process.Kill()
			default:
				workers.kill(rng.IntN(4))
			}
		}
	}
	workers.stop()
	got, files := merged(t, f.store(), m)
	want := local(t, m)
	for _, i := range deadly {
		if !strings.Contains(got[i].Err, "signal: killed") && !strings.Contains(got[i].Err, "given up") {
			t.Errorf("item %d: %+v", i, got[i])
		}
		got[i] = want[i]
	}
	wrong := 0
	for i := range got {
		if strings.Contains(got[i].Err, "given up") || strings.Contains(got[i].Err, "signal: killed") {
			wrong++ // killed by us, and each time
			t.Logf("item %d: %s", i, got[i].Err)
			got[i] = want[i]
		}
	}
	if wrong > 5 {
		t.Errorf("%d items were given up that did nothing wrong", wrong)
	}
	same(t, "storm", got, want)
	t.Logf("%d workers and %d leaders were killed, %d files", workers.died, leaders, files)
}
