// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

// Grids of velocities, and what is found on them, are those of the reference.
func TestVelocityScanGoldens(t *testing.T) {
	var cases []struct {
		Center, Width, Start, Best, Err float64
		Min                             float64 `json:"min_vel"`
		Max                             float64 `json:"max_vel"`
		Step                            float64 `json:"step0"`
		Least                           float64 `json:"min_step"`
		Trace                           []struct {
			G0, G1, Best, Err float64
			N                 int
		}
	}
	golden.JSON(t, &cases, "spectra", "misc", "minimum_sampler.json")
	for _, c := range cases {
		round := 0
		p, err := scanSettings{c.Min, c.Max, c.Step, c.Least}.scan(c.Start, func(vel []float64) ([]float64, error) {
			if round < len(c.Trace) {
				w := c.Trace[round]
				if n := len(vel); n != w.N || math.Abs(vel[0]-w.G0) > 1e-9 || math.Abs(vel[n-1]-w.G1) > 1e-9 {
					t.Errorf("round %d: %d velocities from %v to %v, want %d from %v to %v", round, n, vel[0], vel[n-1], w.N, w.G0, w.G1)
				}
			}
			round++
			out := make([]float64, len(vel))
			for i, v := range vel {
				d := (v - c.Center) / c.Width
				out[i] = d*d + 3*math.Sin(v/7)
			}
			return out, nil
		})
		if err != nil || round != len(c.Trace) || math.Abs(p.Vel-c.Best) > 1e-9 || math.Abs(p.SD/c.Err-1) > 1e-9 {
			t.Errorf("center %v: %+v after %d rounds, want %v +- %v after %d; %v", c.Center, p, round, c.Best, c.Err, len(c.Trace), err)
		}
	}
	// A velocity at the end of the range is that of the grid; one value has no width.
	if p := posteriorOf([]float64{1, 2, 3}, []float64{1, 5, 20}); p.Vel != 1 {
		t.Error(p)
	}
	if p := posteriorOf([]float64{1}, []float64{1}); p.SD != 0 || p.Kurtosis != 0 {
		t.Error(p)
	}
}

// Where a fit is known, its velocity posterior costs few evaluations and is that of a fine grid; where the fit
// is in another minimum than the lowest, however narrow, or its error is wrong, it is that of a scan.
func TestVelocityPosteriorAboutFit(t *testing.T) {
	set := scanSettings{-1000, 1000, 10, 0.2}
	dip := func(v, at, sd, depth float64) float64 { return -depth * math.Exp(-(v-at)*(v-at)/(2*depth*sd*sd)*2) }
	for _, c := range []struct {
		name string
		chi  func(v float64) float64
		at   float64
		sd   float64
		most int // evaluations
	}{
		{"one minimum", func(v float64) float64 { return dip(v, 30.3, 1.5, 2000) }, 30.3, 1.5, 128},
		{"one minimum of little contrast", func(v float64) float64 { return dip(v, -200.1, 30, 100) }, -200.1, 30, 128},
		{"skew", func(v float64) float64 {
			d := (v - 30) / 2
			return 3000 - 3000*math.Exp(-(d*d+0.02*d*d*d*math.Exp(-d*d/200))/3000)
		}, 30, 2, 128},
		{"near the end", func(v float64) float64 { return dip(v, 991, 1.5, 2000) }, 991, 1.5, 128},
		{"a lower one elsewhere", func(v float64) float64 { return dip(v, 30.3, 1.5, 2000) + dip(v, -512.2, 1.3, 2200) }, 30.3, 1.5, 1000},
		{"a lower one that is narrow", func(v float64) float64 { return dip(v, 30.3, 1.5, 400) + dip(v, -512.2, 0.7, 500) }, 30.3, 1.5, 1000},
		{"a wrong error", func(v float64) float64 { return dip(v, 30.3, 1.5, 2000) }, 30.3, 4, 1000},
		{"no error", func(v float64) float64 { return dip(v, 30.3, 1.5, 2000) }, 30.3, math.NaN(), 1000},
	} {
		count := 0
		chi := func(vel []float64) ([]float64, error) {
			count += len(vel)
			var out []float64
			for _, v := range vel {
				out = append(out, c.chi(v))
			}
			return out, nil
		}
		got, err := set.about(c.at, c.sd, chi)
		if err != nil || count > c.most {
			t.Errorf("%s: %d evaluations, %v", c.name, count, err)
		}
		want, err := set.scan(-1000, chi)
		if err != nil {
			t.Fatal(err)
		}
		if c.name != "a lower one that is narrow" && math.Abs(want.Vel-c.at) > 1 && c.most == 128 {
			t.Fatalf("%s: the test is wrong: %v", c.name, want)
		}
		// Moments are of the whole posterior.
		var sum, second, third, fourth float64
		for v := want.Vel - 12*want.SD; v < min(1000, want.Vel+12*want.SD); v += want.SD / 200 {
			w, d := math.Exp((want.ChiSquare-c.chi(v))/2), v-got.Vel
			sum, second, third, fourth = sum+w, second+w*d*d, third+w*d*d*d, fourth+w*d*d*d*d
		}
		sd := math.Sqrt(second / sum)
		if math.Abs(got.Vel-want.Vel) > 0.01*sd || math.Abs(got.SD/sd-1) > 0.01 || math.Abs(got.Skewness-third/sum/(sd*sd*sd)) > 0.02 || math.Abs(got.Kurtosis-fourth/sum/(sd*sd*sd*sd)) > 0.1 {
			t.Errorf("%s: %+v, want %+v with standard deviation %v", c.name, got, want, sd)
		}
	}
}
