// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package measured_test

import (
	"math"
	"path"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/optim"
)

// Fits of draws find the truth to within errors, which are the Cramer-Rao limits of the reference.
func TestFits(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		k := r.task(t, r.drawn(1))
		began := time.Now()
		s, err := k.Fit(t.Context(), optim.Settings{Progress: func(p optim.Progress) { t.Logf("%d %g", p.NFev, p.Cost) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v, %d evaluations, %v, deviance per pixel %g, Pearson %g, %v", time.Since(began), s.NFev, s.Status, s.Deviance/float64(s.Pixels), s.Pearson/float64(s.Pixels), s.Warnings)
		for i, name := range s.Names {
			q := r.Parameters[name]
			t.Logf("%-16s %10.5g +- %-9.4g truth %10.5g pull %6.2f, sd/crb %.3f", name, s.X[i], s.SD[i], q.Truth, (s.X[i]-q.Truth)/s.SD[i], s.SD[i]/q.CRB)
		}
	})
}

// The posterior of a draw agrees with the Fisher information.
func TestPosterior(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		k := r.task(t, r.drawn(1))
		for i, p := range k.Params {
			k.Params[i].Start = r.Parameters[p.Name].Truth
		}
		s, err := k.Fit(t.Context(), optim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		fit, err := k.Sample(t.Context(), s, infer.Settings{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		warmup, sampling := fit.Gradients()
		t.Logf("%v, %d and %d gradients\n%v", time.Since(began), warmup, sampling, fit.Summary())
		for i, name := range s.Names {
			var all []float64
			for _, c := range fit.Draws(name) {
				all = append(all, c...)
			}
			mean, sd := stat.MeanStdDev(all, nil)
			t.Logf("%-16s mean off by %5.2f sd, sd ratio %.3f", name, (mean-s.X[i])/s.SD[i], sd/s.SD[i])
			if len(r.Exposures) > 0 && (math.Abs(mean-s.X[i]) > 0.2*s.SD[i] || math.Abs(sd/s.SD[i]-1) > 0.1) { // the other posterior is bent along tilt
				t.Errorf("%s: the posterior has %g +- %g, and the Fisher information %g +- %g", name, mean, sd, s.X[i], s.SD[i])
			}
		}
	})
}

// Intervals of fits of 50 draws hold the truth as often as they say, and the sum of squared pulls is that of normal errors.
func TestCoverage(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		if r.Flux != nil && testing.Short() {
			t.Skip("50 fits of many parameters take most of an hour")
		}
		const draws = 50
		half, most, square, numbers := map[string]int{}, map[string]int{}, 0.0, 0
		for seed := range uint64(draws) {
			k := r.task(t, r.drawn(1000+seed))
			for i, p := range k.Params {
				k.Params[i].Start = r.Parameters[p.Name].Truth
			}
			s, err := k.Fit(t.Context(), optim.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range s.Names {
				pull := math.Abs(s.X[i]-r.Parameters[n].Truth) / s.SD[i]
				if pull < 0.6745 {
					half[n]++
				}
				if pull < 1.645 {
					most[n]++
				}
				square, numbers = square+pull*pull, numbers+1
			}
		}
		t.Logf("mean squared pull %.3f of %d", square/float64(numbers), numbers)
		for n := range r.Parameters {
			h, m := 100*half[n]/draws, 100*most[n]/draws
			t.Logf("%-16s %d %% in intervals of 50 %%, %d %% in those of 90 %%", n, h, m)
			if h < 27 || h > 73 || m < 76 {
				t.Errorf("%s: %d %% in intervals of 50 %%, %d %% in those of 90 %%", n, h, m)
			}
		}
	})
}
