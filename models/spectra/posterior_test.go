// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"math"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// The posterior of a star is roughly that of a long run of another sampler after a few draws; the slow tests
// have more.
func TestPosteriorGolden(t *testing.T) {
	t.Parallel()
	posteriorGolden(t, infer.Settings{Seed: 1, Warmup: 150, Draws: 150}, 0.4, 0.3, 0)
}

// posteriorGolden compares means in standard deviations, standard deviations by their ratio, correlations by their
// difference, which may be mean too, and quantiles, which may be off by 2 mean; and it wants some effective draws.
func posteriorGolden(t *testing.T, cfg infer.Settings, mean, sd, ess float64) {
	var f struct {
		Mock, Interpolator string
		Npoly              int
		Params             []string
		Mean, Sd           []float64
		Corr               [][]float64
		Quantiles          map[string][]float64
		LaplaceMean        []float64 `json:"laplace_mean"`
		LaplaceSD          []float64 `json:"laplace_sd"`
	}
	golden.JSON(t, &f, "spectra", "posterior", "posterior.json")
	fitter, err := NewFitter(goldenLibrary(t, f.Interpolator), Settings{Continuum: f.Npoly, FixedContinuum: true, Rotation: spectra.Rotation{Compat: true}, Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	star := mock(t, f.Mock)
	star.Starts = []Start{{Vel: f.LaplaceMean[0], Vsini: f.LaplaceMean[1], Params: f.LaplaceMean[2:]}}
	fits, err := fitter.Fit(context.Background(), []Star{star})
	if err != nil || fits[0].Err != nil {
		t.Fatal(err, fits[0].Err)
	}
	post, err := fitter.Sample(context.Background(), &star, &fits[0], cfg)
	if err != nil {
		t.Fatal(err)
	}
	summary := post.Summary()
	for k, name := range f.Params {
		s := summary.Row(name)
		if s == nil {
			t.Fatalf("no %s in %v", name, post.Names())
		}
		if math.Abs(s.Mean-f.Mean[k]) > mean*f.Sd[k] || math.Abs(s.SD/f.Sd[k]-1) > sd || ess > 0 && !(s.RHat < 1.01 && s.ESSBulk > ess && s.ESSTail > ess) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	draws := make([][]float64, len(f.Params))
	for k, name := range f.Params {
		draws[k] = slices.Concat(post.Draws(name)...)
	}
	for k, name := range f.Params {
		for l := range k {
			if r := stat.Correlation(draws[k], draws[l], nil); math.Abs(r-f.Corr[k][l]) > mean {
				t.Errorf("correlation of %s and %s is %v, want %v", name, f.Params[l], r, f.Corr[k][l])
			}
		}
	}
	for k, name := range f.Params {
		slices.Sort(draws[k])
		for text, want := range f.Quantiles {
			p, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			if q := stat.Quantile(p, stat.LinInterp, draws[k], nil); math.Abs(q-want[k]) > 2*mean*f.Sd[k] {
				t.Errorf("quantile %s of %s is %v, want %v", text, name, q, want[k])
			}
		}
	}
}
