// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package spectra

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Of stars whose rotation or abundance ends at a bound, 95 in 100 have their truth within the limit that the fit gives:
// below it at no rotation and at the lower end of the library, above it at the upper end.
func TestLimitsCover(t *testing.T) {
	for _, kind := range []string{"nn", "grid"} {
		t.Run(kind, func(t *testing.T) {
			const count = 1500
			lib := goldenLibrary(t, kind)
			simulated := newSimulator(t, lib, anyMock(t).Spectra, 11)
			rng := rand.New(rand.NewPCG(3, 4))
			between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
			stars, truth := make([]Star, count), make([][]float64, count)
			for i := range stars {
				truth[i] = []float64{between(-50, 50), between(0, 100), between(5200, 5700), between(2.7, 3.8), between(-1.3, -0.7), between(0, 0.8)}
				stars[i] = Star{Name: fmt.Sprint("star ", i), Spectra: simulated.spectra(t, truth[i], 0.03, ""), Starts: []Start{{Vel: truth[i][0], Vsini: 40, Params: []float64{5400, 3.2, -1, 0.38}}}}
			}
			fitter, err := NewFitter(lib, Settings{Continuum: 6, NoVerdict: true})
			if err != nil {
				t.Fatal(err)
			}
			fits, err := fitter.Fit(context.Background(), stars)
			if err != nil {
				t.Fatal(err)
			}
			said, within := map[string]int{}, map[string]int{}
			for i, fit := range fits {
				if fit.Err != nil {
					t.Fatal(fit.Err)
				}
				for _, l := range fit.Limits {
					side, x := "lower end", truth[i][slices.Index(fit.Names, l.Name)]
					if l.Bound > 0.4 && l.Name == "alpha" {
						side = "upper end"
					}
					key := l.Name + ", " + side
					if math.IsNaN(l.Limit95) {
						said[key+", no limit"]++
						continue
					}
					said[key]++
					if (x-l.Limit95)*(l.Bound-l.Limit95) >= 0 {
						within[key]++
					}
				}
			}
			for key, n := range said {
				t.Logf("%s: %d of %d", key, within[key], n)
			}
			for _, key := range []string{"vsini, lower end", "alpha, lower end", "alpha, upper end"} {
				n, k := said[key], within[key]
				if n < 40 {
					t.Errorf("%s: only %d stars", key, n)
					continue
				}
				chance := distuv.Binomial{N: float64(n), P: 0.95}
				if low, high := chance.CDF(float64(k)), 1-chance.CDF(float64(k-1)); min(low, high) < 0.002 {
					t.Errorf("%s: %d of %d limits hold, want 95 in 100", key, k, n)
				}
			}
		})
	}
}
