// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/checkpoint"
)

// killConfig is the run that TestKill interrupts.
func killConfig() Settings {
	return Settings{Warmup: 400, Draws: 300, Chains: 2, Seed: 21, KeepWarmup: true}
}

// slowSchools pauses at every fourth evaluation, and at each of them for long when it
// is told to linger, so as to be killed on the way.
func slowSchools(pause time.Duration, linger *atomic.Bool) Target {
	return PerChain(10, func() func(q, g []float64) float64 {
		e := &eightSchools{}
		return func(q, g []float64) float64 {
			if linger != nil && linger.Load() {
				time.Sleep(2 * time.Millisecond)
			} else if pause > 0 && e.calls%4 == 0 {
				time.Sleep(pause)
			}
			lp, _ := e.LogProbGrad(q, g)
			return lp
		}
	})
}

// TestKilledRun is no test but the process that TestKill kills: it samples with
// a checkpoint every 50 ms, prints the least draw of its chains, and lingers from
// the draw on at which it is to be killed.
func TestKilledRun(t *testing.T) {
	path := os.Getenv("EURYALE_TEST_KILL")
	if path == "" {
		t.Skip("only TestKill runs this, in another process")
	}
	cfg := killConfig()
	cfg.Checkpoint = Checkpoint{Path: path, Every: 50 * time.Millisecond}
	if _, err := os.Stat(path); err == nil {
		cfg.Resume = path
	}
	at, err := strconv.Atoi(os.Getenv("EURYALE_TEST_KILL_AT"))
	if err != nil {
		t.Fatal(err)
	}
	var linger atomic.Bool
	cfg.ProgressEvery = 10 * time.Millisecond
	cfg.Progress = func(p Progress) {
		least := p.Chains[0].Total
		for _, c := range p.Chains {
			least = min(least, c.Draw)
		}
		if least >= at {
			linger.Store(true)
		}
		fmt.Printf("\ndraw %d\n", least)
	}
	mustSample(t, slowSchools(300*time.Microsecond, &linger), cfg)
}

// killedAt runs the process until the checkpoint holds so many draws of all chains,
// kills it, and returns the first draw it told.
func killedAt(t *testing.T, path string, draws int) (first int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRun$")
	cmd.Env = append(os.Environ(), "EURYALE_TEST_KILL="+path, "EURYALE_TEST_KILL_AT="+strconv.Itoa(draws))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal("cannot start a process: ", err)
	}
	first = -1
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n := 0
		if _, err := fmt.Sscanf(lines.Text(), "draw %d", &n); err != nil {
			continue
		}
		if first < 0 {
			first = n
		}
		if n >= draws && savedDraws(t, path) >= draws {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil { // SIGKILL, where there are signals
		t.Errorf("the process ended by itself: %v", err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the run was over before it was killed")
	}
	return first
}

// savedDraws returns how many draws of all chains a checkpoint holds.
func savedDraws(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseSnapshot(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	least := math.MaxInt
	for _, state := range s.states {
		if len(state) == 0 {
			return 0
		}
		least = min(least, checkpoint.Decode(state).Int())
	}
	return least
}

// A process killed in the warm-up, resumed, killed while sampling, and resumed
// again ends with the draws of a run that nothing interrupted.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	path := filepath.Join(t.TempDir(), "run.ckpt")
	cfg := killConfig()
	want := bits(mustSample(t, slowSchools(0, nil), cfg))
	killedAt(t, path, 60)
	if first := killedAt(t, path, cfg.Warmup+60); first < 60 {
		t.Errorf("resumed at draw %d: the checkpoint of draw 60 was lost", first)
	}
	cfg.Resume = path
	began := 0
	cfg.ProgressEvery = time.Microsecond
	cfg.Progress = func(p Progress) {
		if began == 0 {
			began = min(p.Chains[0].Draw, p.Chains[1].Draw)
		}
	}
	if bits(mustSample(t, slowSchools(0, nil), cfg)) != want {
		t.Error("other draws than without the kills")
	}
	if began < cfg.Warmup {
		t.Errorf("resumed at draw %d: the checkpoint of draw %d was lost", began, cfg.Warmup+60)
	}
}
