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
		k := r.closed(t, r.drawn(1))
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

// Intervals of fits hold the truth as often as they say, standard errors are the Cramer-Rao limits of the reference, and the sum of squared
// pulls is that of normal errors. Fits are in closed form, of which 200 of the first set and 50 of the second take minutes.
func TestCoverage(t *testing.T) {
	golden.Each(t, "measured/*/truth.json", func(t *testing.T, name string) {
		r := openReference(t, path.Dir(name))
		draws, slack := 200, [2]float64{12, 7} // per cent about 50 and 90, 3.3 standard deviations
		if r.Flux != nil {
			draws, slack = 50, [2]float64{23, 14}
		}
		r.expectClosed(t)
		half, most, sd, square, numbers := map[string]float64{}, map[string]float64{}, map[string]float64{}, 0.0, 0.0
		each := 100 / float64(draws)
		for seed := range uint64(draws) {
			s, err := r.closed(t, r.drawn(1000+seed)).Fit(t.Context(), optim.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range s.Names {
				pull := math.Abs(s.X[i]-r.Parameters[n].Truth) / s.SD[i]
				if pull < 0.6745 {
					half[n] += each
				}
				if pull < 1.645 {
					most[n] += each
				}
				sd[n] += s.SD[i] / float64(draws)
				square, numbers = square+pull*pull, numbers+1
			}
		}
		t.Logf("mean squared pull %.3f of %g", square/numbers, numbers)
		for n, q := range r.Parameters {
			t.Logf("%-16s %.0f %% in intervals of 50 %%, %.0f %% in those of 90 %%, mean standard error over the limit %.3f", n, half[n], most[n], sd[n]/q.CRB)
			known := q.Prior != "" // draws of one truth: what the prior adds makes intervals too wide for it
			if half[n] < 50-slack[0] || !known && half[n] > 50+slack[0] || most[n] < 90-slack[1] || !known && most[n] > 90+slack[1] || math.Abs(sd[n]/q.CRB-1) > 0.1 {
				t.Errorf("%s: %.0f %% in intervals of 50 %%, %.0f %% in those of 90 %%, standard error %g, the limit is %g", n, half[n], most[n], sd[n], q.CRB)
			}
		}
	})
}
