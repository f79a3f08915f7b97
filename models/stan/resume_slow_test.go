// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package stan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/stan"
)

// TestResumeOfPosteriorDB interrupts a short run of every posterior of posteriordb and resumes it: draws and quantities are those of a run that was not
// interrupted, to the last bit. Those that cannot make the run within a minute are told. EURYALE_POSTERIORS is a regular expression for their names.
func TestResumeOfPosteriorDB(t *testing.T) {
	dir := database(t)
	files, err := filepath.Glob(filepath.Join(dir, "posteriors", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	only := regexp.MustCompile(os.Getenv("EURYALE_POSTERIORS"))
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".json"); only.MatchString(name) {
			t.Run(name, func(t *testing.T) { resumed(t, dir, f) })
		}
	}
}

// posteriorOf compiles a posterior of posteriordb.
func posteriorOf(t *testing.T, dir, file string) *stan.Posterior {
	t.Helper()
	var meta struct {
		Model string `json:"model_name"`
		Data  string `json:"data_name"`
	}
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &meta)
	}
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(dir, "models", "stan", meta.Model+".stan"))
	data := filepath.Join(dir, "data", "data", meta.Data+".json.zip")
	if _, missing := os.Stat(data); err != nil || missing != nil {
		t.Skip("the copy of posteriordb lacks the program or the data")
	}
	program, err := stan.Parse(meta.Model+".stan", string(source), stan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	values, err := stan.ReadData(bytes.NewReader(unzipped(t, data)))
	if err != nil {
		t.Fatal(err)
	}
	post, err := program.Compile(values, stan.CompileSettings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return post
}

// cancelling is a posterior that interrupts its run at an evaluation of its density.
type cancelling struct {
	*stan.Posterior
	left   *atomic.Int64
	cancel context.CancelFunc
}

func (c *cancelling) Clone() infer.Target {
	return &cancelling{c.Posterior.Clone().(*stan.Posterior), c.left, c.cancel}
}

func (c *cancelling) LogProbGrad(q, g []float64) (float64, error) {
	if c.left.Add(-1) == 0 {
		c.cancel()
		time.Sleep(200 * time.Millisecond) // until chains have been told
	}
	return c.Posterior.LogProbGrad(q, g)
}

func resumed(t *testing.T, dir, file string) {
	post := posteriorOf(t, dir, file)
	path := filepath.Join(t.TempDir(), "run")
	settings := infer.Settings{Seed: 3, Chains: 2, Warmup: 60, Draws: 30, MaxTreeDepth: 6}
	limit, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	want, err := infer.Sample(limit, post, settings)
	if limit.Err() != nil {
		t.Skip("not sampled within a minute")
	}
	if err != nil {
		var start *infer.InitError
		if errors.As(err, &start) {
			t.Skipf("no start: %v", err)
		}
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	half := settings
	half.Checkpoint.Path = path
	warm, kept := want.Gradients()
	left := &atomic.Int64{}
	left.Store(int64(warm+kept) / 2)
	if _, err := infer.Sample(ctx, &cancelling{post, left, cancel}, half); err == nil {
		t.Error("the run ended before it was interrupted")
	}
	again := settings
	again.Resume = path
	got, err := infer.Sample(t.Context(), post, again)
	if err != nil {
		t.Fatal(err)
	}
	for c := range want.Chains() {
		for i := range want.Len(c) {
			if !slices.Equal(got.Unconstrained(c, i), want.Unconstrained(c, i)) {
				t.Fatalf("draw %d of chain %d differs", i, c)
			}
			for k, v := range want.Row(c, i) {
				if w := got.Row(c, i)[k]; v != w && (v == v || w == w) {
					t.Fatalf("column %s of draw %d of chain %d is %v, and %v after the interruption", want.Names()[k], i, c, v, w)
				}
			}
		}
	}
}
