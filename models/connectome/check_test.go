// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
)

func drawBinomial(r *rand.Rand, n int, p float64) (k int) {
	for range n {
		if r.Float64() < p {
			k++
		}
	}
	return k
}

// Planted misfits of assemblies are flagged in words; right models are not.
func TestMisfitsOfAssembliesAreNamed(t *testing.T) {
	degrees := func(plant func(i int, r *rand.Rand) float64) func(r *rand.Rand) (*infer.Fit, error) {
		return func(r *rand.Rand) (*infer.Fit, error) {
			d := Degrees{K: 200}
			for i := range 150 {
				d.Count = append(d.Count, drawBinomial(r, d.K, plant(i, r)))
			}
			return FitP(context.Background(), d, infer.Settings{Seed: 1, Draws: 500})
		}
	}
	strengths := func(plant func(times int, r *rand.Rand) float64) func(r *rand.Rand) (*infer.Fit, error) {
		return func(r *rand.Rand) (*infer.Fit, error) {
			var s Strengths
			for i := range 80 {
				times := i % 8
				s.Weight = append(s.Weight, plant(times, r)*math.Exp(0.03*r.NormFloat64()))
				s.Count, s.Times = append(s.Count, 1), append(s.Times, times)
			}
			return FitBeta(context.Background(), s, infer.Settings{Seed: 1, Draws: 500})
		}
	}
	completion := func(plant func(alpha float64, r *rand.Rand) float64) func(r *rand.Rand) (*infer.Fit, error) {
		return func(r *rand.Rand) (*infer.Fit, error) {
			c := Completion{K: 100}
			for i := range 60 {
				a := float64(i+1) / 60
				c.Alpha, c.Recovered = append(c.Alpha, a), append(c.Recovered, drawBinomial(r, c.K, plant(a, r)))
			}
			return FitCompletion(context.Background(), c, infer.Settings{Seed: 1, Draws: 500, TargetAccept: 0.95})
		}
	}
	curve := func(a float64) float64 { return 0.9 / (1 + math.Exp(-15*(a-0.3))) }
	for _, c := range []struct {
		name, want string
		fit        func(r *rand.Rand) (*infer.Fit, error)
	}{
		{"right degrees", "", degrees(func(int, *rand.Rand) float64 { return 0.1 })},
		{"degrees that scatter too much", "overdispersion", degrees(func(_ int, r *rand.Rand) float64 { return 0.1 * math.Exp(0.4*r.NormFloat64()) })},
		{"degrees that grow along the area", "pattern along the order of the points", degrees(func(i int, _ *rand.Rand) float64 { return 0.08 + 0.04*float64(i)/150 })},
		{"a hub", "1 point lies farther", degrees(func(i int, _ *rand.Rand) float64 { return 0.1 + map[bool]float64{true: 0.2}[i == 70] })},
		{"right weights", "", strengths(func(k int, _ *rand.Rand) float64 { return math.Pow(1.1, float64(k)) })},
		{"weights that saturate", "pattern along times", strengths(func(k int, _ *rand.Rand) float64 { return min(math.Pow(1.1, float64(k)), 1.5) })},
		{"weights that start higher", "pattern along times", strengths(func(k int, _ *rand.Rand) float64 { return 1.2 * math.Pow(1.1, float64(k)) })},
		{"weights that spread as they grow", "the scatter varies", strengths(func(k int, r *rand.Rand) float64 {
			return math.Pow(1.1, float64(k)) * math.Exp(0.05*float64(k)*r.NormFloat64())
		})},
		{"right completion", "", completion(func(a float64, _ *rand.Rand) float64 { return curve(a) })},
		{"completion that falls again", "pattern along alpha", completion(func(a float64, _ *rand.Rand) float64 { return curve(a) * (1 - 0.5*max(a-0.5, 0)) })},
		{"brains that differ", "overdispersion", completion(func(a float64, r *rand.Rand) float64 { return min(curve(a)*math.Exp(0.25*r.NormFloat64()), 1) })},
	} {
		fit, err := c.fit(rand.New(rand.NewPCG(11, 12)))
		if err != nil {
			t.Fatal(c.name, err)
		}
		v, err := fit.CheckModel(infer.CheckSettings{})
		if err != nil {
			t.Fatal(c.name, err)
		}
		if v.OK != (c.want == "") || !strings.Contains(v.String(), c.want) {
			t.Errorf("%s: want %q: %v", c.name, c.want, v)
		}
	}
}
