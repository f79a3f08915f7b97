// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph_test

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	demodata "github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/optim"
)

// particle is a folder with the problems of the demonstration.
func particle(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := demodata.WriteParticle(context.Background(), dir, "test"); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A problem file is fitted from Go; a fit that was cut short goes on from where it was, and
// draws are judged.
func TestTask(t *testing.T) {
	file := filepath.Join(particle(t), "problem.json")
	task, err := morph.OpenTask(file, 0)
	if err != nil {
		t.Fatal(err)
	}
	short := *task.Problem
	short.MaxNFev = 2
	cut, err := short.Task(filepath.Dir(file), 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	begun, err := cut.Fit(ctx, morph.FitSettings{Restarts: -1})
	if err != nil || begun.Status != optim.MaxEvaluations || begun.Check.OK {
		t.Fatalf("%v %+v", err, begun)
	}
	if task.StartAt([]float64{1}) || !task.StartAt(begun.X) {
		t.Error("a start of one number for all parameters was taken, or the right one was not")
	}
	evaluations := 0
	best, err := task.Fit(ctx, morph.FitSettings{Progress: func(p optim.Progress) { evaluations = p.NFev }})
	if err != nil || !best.Status.Converged() || evaluations == 0 {
		t.Fatalf("%v %+v", err, best)
	}
	for i, n := range task.Names() {
		if truth := demodata.Particle()[n]; !(math.Abs(best.X[i]-truth) < 4*best.SD[i]) {
			t.Errorf("%s is %g +- %g, truth %g", n, best.X[i], best.SD[i], truth)
		}
	}
	m, p, err := task.Predict(ctx, best.X)
	if err != nil || m.Shape() != task.Problem.Grid.Shape || len(p.Energies) != 3 {
		t.Errorf("%v", err)
	}
	if v, err := morph.VolumeOf(m); err != nil || len(v.Phases) != 3 {
		t.Errorf("%v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if f, err := task.Fit(cancelled, morph.FitSettings{}); err != nil || f.Status != optim.Interrupted {
		t.Errorf("%v %+v", err, f)
	}
}

func TestTaskOfDraws(t *testing.T) {
	tier.SlowOnly(t)
	task, err := morph.OpenTask(filepath.Join(particle(t), "posterior.json"), 0)
	if err != nil || task.Method != "nuts" {
		t.Fatal(err)
	}
	post, err := task.Posterior()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	starts, err := task.Starts(ctx, post, 2, 1, 0)
	if err != nil || len(starts) != 2 {
		t.Fatal(err, starts)
	}
	fit, err := infer.Sample(ctx, post, infer.Settings{Chains: 2, Warmup: 20, Draws: 10, Seed: 1, Init: starts})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := task.CheckDraws(fit); err != nil {
		t.Error(err)
	}
	if x := task.Means(fit); len(x) != 3 || !(math.Abs(x[0]-9.3) < 1) {
		t.Error(x)
	}
}

func TestTaskWithoutFiles(t *testing.T) {
	dir := particle(t)
	if err := os.Remove(filepath.Join(dir, "Material2.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := morph.OpenTask(filepath.Join(dir, "problem.json"), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "HDF5")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "HDF5"), 0o755); err != nil {
		t.Fatal(err)
	}
	var none *morph.NoPatternsError
	if _, err := morph.OpenTask(filepath.Join(dir, "problem.json"), 0); !errors.As(err, &none) {
		t.Error(err)
	}
	if _, err := morph.OpenTask(filepath.Join(dir, "none.json"), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, _, err := morph.OpenPatterns(nil, 1); err == nil {
		t.Error("patterns of no files")
	}
}
