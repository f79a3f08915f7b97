// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package spectra

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// The rotations of 200 stars, 40 at each of five, have no bias: fast ones have pulls of a standard normal distribution,
// and for slow ones the truth lies as often in the interval of the profile, and below its limit, as these say.
func TestPullsOfRotation(t *testing.T) {
	lib := goldenLibrary(t, "nn")
	simulated := newSimulator(t, lib, anyMock(t).Spectra, 17)
	rng := rand.New(rand.NewPCG(5, 6))
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	rotations := []float64{0, 5, 15, 40, 100}
	var stars []Star
	for i := range 200 {
		theta := []float64{between(-50, 50), rotations[i%5], between(5200, 5700), between(2.7, 3.8), between(-1.3, -0.7), between(0.2, 0.6)}
		stars = append(stars, Star{Name: fmt.Sprint("star ", i), Spectra: simulated.spectra(t, theta, 0.02, ""), Starts: []Start{{Vel: theta[0], Vsini: 40, Params: []float64{5400, 3.2, -1, 0.38}}}})
	}
	fitter, err := NewFitter(lib, Settings{Continuum: 6, NoVerdict: true})
	if err != nil {
		t.Fatal(err)
	}
	fits, err := fitter.Fit(context.Background(), stars)
	if err != nil {
		t.Fatal(err)
	}
	var sums, squares, errors [5]float64
	var seen, profiles, within, limits, rest [5]int
	for i, fit := range fits {
		if fit.Err != nil {
			t.Fatal(fit.Err)
		}
		k, x := i%5, fit.X[1]
		if x == 0 {
			rest[k]++
		}
		if r := fit.Rotation; r != nil {
			profiles[k]++
			if r.Lower <= rotations[k] && rotations[k] <= r.Upper {
				within[k]++
			}
			if rotations[k] <= r.Below95 {
				limits[k]++
			}
		}
		pull := (x - rotations[k]) / fit.SD[1]
		seen[k]++
		sums[k], squares[k], errors[k] = sums[k]+pull, squares[k]+pull*pull, errors[k]+x-rotations[k]
	}
	for k, v := range rotations {
		n := float64(seen[k])
		t.Logf("vsini %g: %d at rest; %d profiles, %d within their interval, %d below their limit; %d stars with a mean pull of %.2f of sd %.2f, %.2f km/s off",
			v, rest[k], profiles[k], within[k], limits[k], seen[k], sums[k]/n, math.Sqrt(squares[k]/n-sums[k]*sums[k]/n/n), errors[k]/n)
		if v >= 40 && !(math.Abs(sums[k]/n) < 3.5/math.Sqrt(n)) {
			t.Errorf("vsini %g: the mean pull of %g stars is %.2f", v, n, sums[k]/n)
		}
		if profiles[k] >= 30 && (within[k] < profiles[k]*45/100 || limits[k] < profiles[k]*85/100) {
			t.Errorf("vsini %g: of %d stars, %d lie within their interval and %d below their limit", v, profiles[k], within[k], limits[k])
		}
	}
}
