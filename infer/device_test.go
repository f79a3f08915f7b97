// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/gpu"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Eight schools under NUTS with a density on the device gives the draws of the processor, within
// rounding that grows along a chain, and launches one graph for each gradient.
func TestEightSchoolsOnDevice(t *testing.T) {
	lib := pretend.Shared(t)
	eightSchoolsOnDevice(t, func() int { return lib.Get("cuGraphLaunch") })
}

// The same on a GPU; scripts/gpu.sh starts it.
func TestGPUEightSchools(t *testing.T) {
	gpu.Need(t)
	eightSchoolsOnDevice(t, nil)
}

// eightSchoolsOnDevice samples on the processor and on the device; launches, unless nil, counts launches of
// graphs.
func eightSchoolsOnDevice(t *testing.T, launches func() int) {
	if launches == nil {
		launches = func() int { return 0 }
	}
	m := infer.NewModel("eight schools")
	mu := m.Param("mu", dist.Normal(0, 5))
	tau := m.Param("tau", dist.HalfCauchy(5))
	theta := m.Deterministic("theta", ad.Add(mu, ad.Mul(tau, m.Param("z", dist.Normal(0, 1), infer.Shape(8)))))
	m.Observe("y", dist.Normal(theta, m.Data("se", []float64{15, 10, 16, 11, 9, 11, 10, 18})), []float64{28, 8, -3, 7, -1, 1, 18, 12})
	cfg := infer.Settings{Seed: 1, Chains: 1, Warmup: 40, Draws: 60}
	var first []float64
	for _, b := range []ad.Backend{ad.CPU{Threads: 1}, ad.CUDA{Strict: true}} {
		post, err := m.CompileOn(b)
		if err != nil {
			t.Fatal(err)
		}
		before := launches()
		fit, err := infer.Sample(context.Background(), post, cfg)
		if err != nil {
			t.Fatal(err)
		}
		draws := fit.Draws("mu")[0]
		if first == nil {
			first = draws
			continue
		}
		for i := range 10 {
			if math.Abs(draws[i]-first[i]) > 1e-6*max(1, math.Abs(first[i])) {
				t.Fatalf("draw %d is %v on the device, %v on the processor", i, draws[i], first[i])
			}
		}
		if launched := launches() - before; launched < 500 && launches() > 0 {
			t.Errorf("%d launches of the graph", launched)
		}
	}
}

// A device that fails while a run is told from others is an error of its own: neither a run that nobody can
// resume later, nor, on resuming, one that belongs to somebody else.
func TestFingerprintOnDevice(t *testing.T) {
	lib := pretend.Shared(t)
	m := infer.NewModel("line")
	x := m.Param("x", dist.Normal(0, 1), infer.Shape(3))
	m.AddLogProb("factor", ad.Sum(ad.Diag(ad.Cholesky(ad.Add(ad.Eye(3), ad.Mul(ad.Reshape(x, 3, 1), ad.Reshape(x, 1, 3)))))))
	turned := infer.NewModel("turned") // no positive definite matrix where fingerprints look
	y := turned.Param("y", dist.Normal(0, 1), infer.Shape(2))
	turned.AddLogProb("factor", ad.Sum(ad.Cholesky(ad.Sub(ad.Mul(ad.Reshape(y, 2, 1), ad.Reshape(y, 1, 2)), ad.Scale(math.Pi, ad.Eye(2))))))
	for _, m := range []*infer.Model{m, turned} {
		var posts []*infer.Posterior
		for _, b := range []ad.Backend{ad.CPU{}, ad.CUDA{}} {
			post, err := m.CompileOn(b)
			if err != nil {
				t.Fatal(err)
			}
			posts = append(posts, post)
		}
		want := posts[0].Fingerprint()
		if f := posts[1].Fingerprint(); f != want {
			t.Errorf("%s on the processor, %s on the device", want, f)
		}
		if m == turned {
			continue
		}
		cfg := infer.Settings{Seed: 1, Chains: 1, Warmup: 20, Draws: 20, Checkpoint: infer.Checkpoint{Path: filepath.Join(t.TempDir(), "checkpoint")}}
		for _, call := range []string{"cuMemcpyDtoH_v2", "cuLaunchKernel"} {
			lib.Fail(call, 1, 1, int32(drv.InvalidValue))
			if _, err := infer.Sample(context.Background(), posts[1], cfg); !errors.Is(err, drv.InvalidValue) {
				t.Errorf("%s: %v", call, err)
			}
			if _, err := os.Stat(cfg.Checkpoint.Path); err == nil {
				t.Errorf("%s: there is a checkpoint", call)
			}
		}
		if _, err := infer.Sample(context.Background(), posts[1], cfg); err != nil {
			t.Fatal(err)
		}
		cfg.Resume, cfg.Draws = cfg.Checkpoint.Path, 30
		lib.Fail("cuLaunchKernel", 1, 1, int32(drv.InvalidValue))
		if _, err := infer.Sample(context.Background(), posts[1], cfg); !errors.Is(err, drv.InvalidValue) {
			t.Errorf("resuming: %v", err)
		}
		if _, err := infer.Sample(context.Background(), posts[1], cfg); err != nil {
			t.Errorf("resuming again: %v", err)
		}
	}
}
