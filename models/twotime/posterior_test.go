// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

type moments struct {
	Mean, SD                  float64
	Q025, Q16, Q50, Q84, Q975 float64
}

// Posteriors are those of long runs of another sampler, and of a quadrature.
func TestPosteriorGoldens(t *testing.T) { posteriorGoldens(t, nil, 600) }

func posteriorGoldens(t *testing.T, b ad.Backend, draws int) {
	most, least := 1.01, 400. // of R-hat, and of effective draws
	if draws < 1500 {
		most, least = 1.03, 120
	}
	golden.Each(t, "xpcs/twotime/posterior_*.json", func(t *testing.T, name string) {
		var c struct {
			Model      string
			T          []float64
			DT, Q, L   float64
			Phi        []float64
			Sigma      float64
			Y          [][]float64
			Priors     map[string][]any
			Contrast   []any              `json:"prior_contrast"`
			Offset     []any              `json:"prior_offset"`
			Posterior  map[string]moments `json:"posterior"`
			Quadrature map[string]any
		}
		golden.JSON(t, &c, name)
		if c.Model != string(transport.Static) {
			tier.SlowOnly(t)
		}
		n := len(c.T)
		d := twotime.Data{Setup: transport.Setup{Model: transport.Model(c.Model), Times: c.T, Q: c.Q, Gap: c.L, Angles: c.Phi}}
		for _, y := range c.Y {
			full, sigma := make([]float64, n*n), make([]float64, n*n)
			at := 0
			for i := range n {
				for j := i + 1; j < n; j++ {
					full[i*n+j], sigma[i*n+j] = y[at], c.Sigma
					at++
				}
			}
			d.C2, d.Sigma = append(d.C2, full), append(d.Sigma, sigma)
		}
		number := func(v any) float64 { return v.(float64) }
		p := twotime.Priors{Motion: map[string]dist.Dist{}, Contrast: twotime.Normal{Mean: number(c.Contrast[1]), SD: number(c.Contrast[2])},
			Offset: twotime.Normal{Mean: number(c.Offset[1]), SD: number(c.Offset[2])}}
		for name, v := range c.Priors {
			switch v[0] {
			case "normal":
				p.Motion[name] = dist.Normal(number(v[1]), number(v[2]))
			case "halfnormal":
				p.Motion[name] = dist.HalfNormal(number(v[1]))
			default:
				t.Fatalf("a prior %v", v)
			}
		}
		post, err := twotime.New(context.Background(), d, p, twotime.PosteriorSettings{Likelihood: twotime.Independent, Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 3, Draws: draws, Warmup: draws/2 + 200, TargetAccept: 0.98})
		if err != nil {
			t.Fatal(err)
		}
		contrast, offset := post.Scales(fit, 7)
		for name, want := range c.Posterior {
			var chains [][]float64
			var k int
			limit := 0.05
			switch {
			case scan(name, "contrast_%d", &k):
				chains, limit = contrast[k], 0.08
			case scan(name, "offset_%d", &k):
				chains, limit = offset[k], 0.08
			default:
				chains = fit.Draws(name)
			}
			all := slices.Concat(chains...)
			mean, sd := meanAndSD(all)
			// errors of our own draws come on top of the tolerance
			ess := diag.ESSBulk(chains)
			noise := 3 / math.Sqrt(ess)
			if math.Abs(mean-want.Mean) > (0.03+noise)*want.SD || math.Abs(sd/want.SD-1) > 0.03+noise {
				t.Errorf("%s: %.6g +- %.3g, want %.6g +- %.3g (%.0f effective draws)", name, mean, sd, want.Mean, want.SD, ess)
			}
			slices.Sort(all)
			for q, x := range map[float64]float64{0.025: want.Q025, 0.16: want.Q16, 0.5: want.Q50, 0.84: want.Q84, 0.975: want.Q975} {
				// of our own quantile, in standard deviations of a normal distribution
				noise := 3 * math.Sqrt(q*(1-q)/diag.ESSQuantile(chains, q)) / density(q)
				if got := all[int(q*float64(len(all)))]; math.Abs(got-x) > (limit+noise)*want.SD {
					t.Errorf("%s: quantile %g is %.6g, want %.6g, %.2g sd off", name, q, got, x, (got-x)/want.SD)
				}
			}
			if r := diag.RHat(chains); r > most || ess < least {
				t.Errorf("%s: R-hat %.3f, %.0f effective draws", name, r, ess)
			}
		}
		if fit.Divergent() > 0 {
			t.Errorf("%d divergences", fit.Divergent())
		}
	})
}

func scan(text, format string, v *int) bool {
	n, err := fmt.Sscanf(text, format, v)
	return n == 1 && err == nil
}

func meanAndSD(v []float64) (mean, sd float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		sd += (x - mean) * (x - mean) / float64(len(v)-1)
	}
	return mean, math.Sqrt(sd)
}

// density returns the density of the standard normal distribution at its quantile of a probability.
func density(q float64) float64 {
	z := math.Sqrt2 * math.Erfinv(2*q-1)
	return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
}
