// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package stan_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/stan"
)

// patience is how long one posterior may be sampled; those that need longer are told.
const patience = 10 * time.Minute

// TestSamplingOfPosteriorDB samples every posterior of posteriordb that has reference draws, at the defaults with three seeds and in the coordinates of the program with one, and compares
// means and standard deviations. One that is farther off than four standard errors must be said to be wrong by its diagnostics.
// EURYALE_POSTERIORS is a regular expression for the names of posteriors.
func TestSamplingOfPosteriorDB(t *testing.T) {
	dir := database(t)
	files := referenceFiles(dir)
	if len(files) == 0 {
		t.Skip("the copy of posteriordb has no reference draws: scripts/posteriordb.sh fetches them")
	}
	only := regexp.MustCompile(os.Getenv("EURYALE_POSTERIORS"))
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json.zip")
		if only.MatchString(name) {
			t.Run(name, func(t *testing.T) { sampleReference(t, dir, name, f) })
		}
	}
}

func sampleReference(t *testing.T, dir, name, file string) {
	r, err := readReference(dir, name, file)
	if err != nil {
		t.Skip(err)
	}
	post, err := r.compile()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("declared", func(t *testing.T) {
		compareReference(t, r, name+" declared", post, infer.Settings{Seed: 1, Coordinates: infer.DeclaredCoordinates})
	})
	for seed := range uint64(3) {
		kind := fmt.Sprintf("chosen %d", seed+1)
		t.Run(kind, func(t *testing.T) { compareReference(t, r, name+" "+kind, post, infer.Settings{Seed: seed + 1}) })
	}
}

func compareReference(t *testing.T, r *referencePosterior, name string, post *stan.Posterior, cfg infer.Settings) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	start := time.Now()
	cfg.Parallel = runtime.GOMAXPROCS(0)
	fit, err := infer.Sample(ctx, post, cfg)
	if ctx.Err() != nil {
		t.Skipf("not sampled within %v", patience)
	}
	if err != nil {
		t.Fatal(err)
	}
	j := r.judge(fit.Draws)
	if j.Compared == 0 {
		t.Fatalf("no column of the reference is among %v", fit.Names()[:min(5, len(fit.Names()))])
	}
	warm, kept := fit.Gradients()
	ok := fit.Diagnose().OK()
	t.Logf("%-60s %4d columns, worst z %5.2f (%s), least ESS %6.0f, %7d gradients (%.4f for each), %d divergences, %6.1f s, draws ok: %v, %v", name, j.Compared, j.Worst, j.Where, j.ESS, warm+kept, j.ESS/float64(warm+kept), fit.Divergent(), time.Since(start).Seconds(), ok,
		fit.Coordinates())
	if j.Worst > 4 && ok {
		t.Errorf("%s is %.1f standard errors off, and the diagnostics do not say so", j.Where, j.Worst)
	}
}
