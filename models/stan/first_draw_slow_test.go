//go:build slow

// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/stan"
)

// TestFirstDraws prints a table of the seconds from the source of the posteriors of a copy of posteriordb, which EURYALE_POSTERIORDB names, to
// the compiled density, to a start where it is finite, and to the first draw of the warm-up of a chain, and how many take less than 0.2 s.
// EURYALE_POSTERIOR may hold a pattern of names.
func TestFirstDraws(t *testing.T) {
	dir := os.Getenv("EURYALE_POSTERIORDB")
	if dir == "" {
		t.Skip("EURYALE_POSTERIORDB names no copy of posteriordb")
	}
	dir = filepath.Join(dir, "posterior_database")
	pattern := os.Getenv("EURYALE_POSTERIOR")
	if pattern == "" {
		pattern = "*"
	}
	files, _ := filepath.Glob(filepath.Join(dir, "posteriors", pattern+".json"))
	var all []float64
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		compiled, drawn, err := firstDraw(dir, f)
		if err != nil {
			t.Logf("| %s | %s |", name, strings.ReplaceAll(err.Error(), "\n", " "))
			continue
		}
		t.Logf("| %s | %.3f | %.3f |", name, compiled, drawn)
		all = append(all, drawn)
	}
	slices.Sort(all)
	n, _ := slices.BinarySearch(all, 0.2)
	t.Logf("%d of %d have their first draw within 0.2 s", n, len(all))
}

// firstDraw returns seconds since the beginning.
func firstDraw(dir, file string) (compiled, drawn float64, err error) {
	var about struct {
		Model string `json:"model_name"`
		Data  string `json:"data_name"`
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	if err != nil {
		return 0, 0, err
	}
	source, err := os.ReadFile(filepath.Join(dir, "models", "stan", about.Model+".stan"))
	if err != nil {
		return 0, 0, err
	}
	if text, err = unzip(filepath.Join(dir, "data", "data", about.Data+".json.zip")); err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	since := func() float64 { return time.Since(begin).Seconds() }
	p, err := stan.Parse(about.Model+".stan", string(source), stan.Settings{})
	if err != nil {
		return 0, 0, err
	}
	d, err := stan.ReadData(strings.NewReader(string(text)))
	if err != nil {
		return 0, 0, err
	}
	post, err := p.Compile(d, stan.CompileSettings{})
	if err != nil {
		return 0, 0, err
	}
	compiled = since()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := infer.StanSettings()
	s.Chains, s.Warmup, s.Draws, s.Seed, s.ProgressEvery = 1, 300, 1, 1, 1
	s.Progress = func(p infer.Progress) {
		if drawn == 0 && len(p.Chains) > 0 && p.Chains[0].Draw > 0 {
			drawn = since()
			cancel()
		}
	}
	_, err = infer.Sample(ctx, post, s)
	if drawn > 0 {
		err = nil
	}
	return compiled, drawn, err
}
