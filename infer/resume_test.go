// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/tier"
)

// cancelling wraps a target so that a context is cancelled after so many
// evaluations of all chains. That evaluation returns when the chains have been told.
type cancelling struct {
	Target
	left   *atomic.Int64
	cancel context.CancelFunc
	told   func() bool
}

func (c *cancelling) Clone() Target { return &cancelling{c.Target.Clone(), c.left, c.cancel, c.told} }

func (c *cancelling) LogProbGrad(q, g []float64) (float64, error) {
	if c.left.Add(-1) == 0 {
		c.cancel()
		for !c.told() {
			time.Sleep(time.Millisecond)
		}
	}
	return c.Target.LogProbGrad(q, g)
}

// cancelAfter samples a target as Sample does until so many evaluations were made and
// returns the error.
func cancelAfter(t *testing.T, target Target, n int64, cfg Settings) (*Fit, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	left := &atomic.Int64{}
	left.Store(n)
	var r *run
	c := &cancelling{target, left, cancel, func() bool { return r == nil || r.stop.Load() }}
	cfg, err := cfg.withDefaults(c.Dim())
	if err == nil {
		r, err = newRun(c, cfg)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(r.start(ctx, c)...)
	return newFit(r), err
}

// eightSchoolsPlain has no outputs, so that a wrapper hides nothing.
type eightSchoolsPlain struct{ e eightSchools }

func (*eightSchoolsPlain) Dim() int      { return 10 }
func (*eightSchoolsPlain) Clone() Target { return &eightSchoolsPlain{} }
func (p *eightSchoolsPlain) LogProbGrad(q, g []float64) (float64, error) {
	return p.e.LogProbGrad(q, g)
}

func resumeConfigs() map[string]Settings {
	return map[string]Settings{
		"default":         {},
		"Fisher diagonal": {Metric: DiagFisher, KeepWarmup: true},
		"Stan":            StanSettings(),
		"dense":           {Metric: DenseVariance, Schedule: StanSchedule},
	}
}

// A run cancelled anywhere and resumed must equal the uninterrupted one in
// every bit. The evaluations at which it is cancelled fall into the search for
// a start, the warm-up and the sampling of the first or the last chain.
func TestResumeIsExact(t *testing.T) {
	for name, cfg := range resumeConfigs() {
		cfg.Warmup, cfg.Draws, cfg.Chains, cfg.Seed, cfg.Parallel = 160, 60, 3, 9, 2
		whole := mustSample(t, &eightSchoolsPlain{}, cfg)
		want := bits(whole)
		warm, sampling := whole.Gradients()
		for _, at := range tier.Of([]int{7, warm / 4, warm, warm + sampling/2}, []int{1, 7, warm / 9, warm / 4, warm / 2, 2*warm/3 + 11, warm, warm + sampling/2, warm + sampling - 5}) {
			saved := cfg
			saved.Checkpoint.Path = filepath.Join(t.TempDir(), "run.ckpt")
			part, err := cancelAfter(t, &eightSchoolsPlain{}, int64(at), saved)
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%s, cancelled at %d: error %v", name, at, err)
			}
			if bits(part) == want {
				t.Errorf("%s, cancelled at %d: nothing was left to do", name, at)
			}
			saved.Resume, saved.Parallel = saved.Checkpoint.Path, 3
			if bits(mustSample(t, &eightSchoolsPlain{}, saved)) != want {
				t.Errorf("%s, cancelled at %d: other draws after resuming", name, at)
			}
		}
	}
}

// Resuming twice, and resuming a finished run for more draws.
func TestResumeAgain(t *testing.T) {
	cfg := Settings{Warmup: 100, Draws: 80, Chains: 2, Seed: 4}
	want := bits(mustSample(t, &eightSchoolsPlain{}, cfg))
	cfg.Checkpoint.Path = filepath.Join(t.TempDir(), "run.ckpt")
	if _, err := cancelAfter(t, &eightSchoolsPlain{}, 500, cfg); err == nil {
		t.Fatal("not cancelled")
	}
	cfg.Resume = cfg.Checkpoint.Path
	if _, err := cancelAfter(t, &eightSchoolsPlain{}, 900, cfg); err == nil {
		t.Fatal("not cancelled")
	}
	cfg.Draws = 30
	short := mustSample(t, &eightSchoolsPlain{}, cfg)
	if short.Len(0) != 30 {
		t.Errorf("%d draws, want 30", short.Len(0))
	}
	cfg.Draws = 80
	if bits(mustSample(t, &eightSchoolsPlain{}, cfg)) != want {
		t.Error("other draws after resuming three times")
	}
}

// A killed run leaves whatever file was last complete: here copies taken while
// it runs, which it goes slowly to allow.
func TestResumeAfterKill(t *testing.T) {
	dir := t.TempDir()
	cfg := Settings{Warmup: 600, Draws: 300, Chains: 2, Seed: 4}
	var wanted atomic.Int64 // copies
	slow := PerChain(10, func() func(q, g []float64) float64 {
		e := &eightSchools{}
		return func(q, g []float64) float64 {
			if e.calls%200 == 0 || e.calls > 3000 && wanted.Load() > 0 {
				time.Sleep(time.Millisecond)
			}
			lp, _ := e.LogProbGrad(q, g)
			return lp
		}
	})
	want := bits(mustSample(t, slow, cfg))
	saved := cfg
	saved.Checkpoint = Checkpoint{Path: filepath.Join(dir, "run.ckpt"), Every: time.Millisecond}
	saved.ProgressEvery = time.Millisecond
	wanted.Store(20)
	var copies []string
	saved.Progress = func(p Progress) {
		if b, err := os.ReadFile(saved.Checkpoint.Path); err == nil && !p.Done && len(b) > 1000 {
			name := filepath.Join(dir, "copy"+string(rune('A'+len(copies)%50)))
			if os.WriteFile(name, b, 0o600) == nil {
				copies = append(copies, name)
				wanted.Add(-1)
			}
		}
	}
	mustSample(t, slow, saved)
	if len(copies) == 0 {
		t.Fatal("no checkpoint was written while the run lasted")
	}
	for i := 0; i < len(copies); i += len(copies)/4 + 1 {
		again := cfg
		again.Resume = copies[i]
		if bits(mustSample(t, slow, again)) != want {
			t.Errorf("copy %d of %d: other draws after resuming", i, len(copies))
		}
	}
}

func TestResumeRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.ckpt")
	cfg := Settings{Warmup: 30, Draws: 10, Chains: 2, Checkpoint: Checkpoint{Path: path}}
	mustSample(t, independent(1, 2), cfg)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(what string, target Target, cfg Settings, word string) {
		t.Helper()
		_, err := Sample(t.Context(), target, cfg)
		if !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: error %v, want one with %q", what, err, word)
		}
	}
	refuse("a file is there", independent(1, 2), cfg, "exists already")
	cfg.Resume = path
	other := cfg
	other.Seed, other.TargetAccept = 3, 0.9
	refuse("another seed", independent(1, 2), other, `Seed was "0" and is "3"`)
	refuse("another seed", independent(1, 2), other, "TargetAccept")
	refuse("another dimension", independent(1, 2, 3), cfg, "parameters")
	refuse("another model", independent(1, 3), cfg, "the same model and data")
	earlier := &snapshot{settings: "Seed=0\nRounds=4\n"}
	if err := earlier.fits(path, fmt.Sprintf("Seed=0\nRounds=%d\n", roundRules)); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "another version of the program") {
		t.Errorf("rules of an earlier version: error %v", err)
	}

	write := func(b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(good[:len(good)-1])
	refuse("cut off", independent(1, 2), cfg, "is incomplete")
	flipped := append([]byte(nil), good...)
	flipped[len(good)/2] ^= 1
	write(flipped)
	refuse("damaged", independent(1, 2), cfg, "damaged")
	write([]byte("hello"))
	refuse("another file", independent(1, 2), cfg, `begins with "hello"`)
	newer := append([]byte(nil), good...)
	newer[len("EURYALE-CHAINS ")] = '9'
	write(newer)
	refuse("another version", independent(1, 2), cfg, "another version")
	write(append(append([]byte(nil), good...), 0))
	refuse("a byte too many", independent(1, 2), cfg, "after its end")
	os.Remove(path)
	if _, err := Sample(t.Context(), independent(1, 2), cfg); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	cfg.Resume, cfg.Checkpoint.Path = "", filepath.Join(path, "no", "folder")
	if _, err := Sample(t.Context(), independent(1, 2), cfg); !errors.Is(err, ErrNotSaved) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

func FuzzCheckpoint(f *testing.F) {
	path := filepath.Join(f.TempDir(), "run.ckpt")
	cfg := Settings{Warmup: 30, Draws: 5, Chains: 1, KeepWarmup: true, Checkpoint: Checkpoint{Path: path}}
	if _, err := Sample(f.Context(), &eightSchools{}, cfg); err != nil {
		f.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	s, err := parseSnapshot(bytes.NewReader(b))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.states[0])
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, state []byte) {
		full, err := cfg.withDefaults(10)
		if err != nil {
			t.Fatal(err)
		}
		c := newChain(&full, 0, &eightSchools{}, new(atomic.Bool))
		if c.load(state) == nil && len(state) > 0 {
			if again := c.save(); string(again) != string(state) {
				t.Errorf("state of %d bytes is saved again as %d bytes", len(state), len(again))
			}
		}
	})
}
