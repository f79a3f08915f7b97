package infer

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// killConfig is the run that TestKill interrupts.
func killConfig() Config {
	return Config{Warmup: 400, Draws: 300, Chains: 2, Seed: 21, KeepWarmup: true}
}

// slowSchools takes long enough to be killed on the way.
func slowSchools(pause time.Duration) Target {
	return PerChain(10, func() func(q, g []float64) float64 {
		e := &eightSchools{}
		return func(q, g []float64) float64 {
			if pause > 0 && e.calls%4 == 0 {
				time.Sleep(pause)
			}
			lp, _ := e.LogProbGrad(q, g)
			return lp
		}
	})
}

// TestKilledRun is no test but the process that TestKill kills: it samples with
// a checkpoint every 50 ms and prints the least draw of its chains.
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
	cfg.ProgressEvery = 10 * time.Millisecond
	cfg.Progress = func(p Progress) {
		least := p.Chains[0].Total
		for _, c := range p.Chains {
			least = min(least, c.Draw)
		}
		fmt.Printf("\ndraw %d\n", least)
	}
	mustSample(t, slowSchools(300*time.Microsecond), cfg)
}

// killedAt runs the process until all chains have made so many draws and the
// checkpoint was replaced once more, kills it, and returns the first draw it told.
func killedAt(t *testing.T, path string, draws int) (first int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRun$")
	cmd.Env = append(os.Environ(), "EURYALE_TEST_KILL="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal("cannot start a process: ", err)
	}
	limit := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer limit.Stop()
	first = -1
	var passed time.Time // when the draws were made
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		n := 0
		if _, err := fmt.Sscanf(lines.Text(), "draw %d", &n); err != nil {
			continue
		}
		if first < 0 {
			first = n
		}
		if info, err := os.Stat(path); n >= draws && err == nil {
			if passed.IsZero() {
				passed = time.Now()
			}
			if info.ModTime().After(passed) {
				break
			}
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

// A process killed in the warm-up, resumed, killed while sampling, and resumed
// again ends with the draws of a run that nothing interrupted.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	path := filepath.Join(t.TempDir(), "run.ckpt")
	cfg := killConfig()
	want := bits(mustSample(t, slowSchools(0), cfg))
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
	if bits(mustSample(t, slowSchools(0), cfg)) != want {
		t.Error("other draws than without the kills")
	}
	if began < cfg.Warmup {
		t.Errorf("resumed at draw %d: the checkpoint of draw %d was lost", began, cfg.Warmup+60)
	}
}
