// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"context"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/golden"
)

type bayesGolden struct {
	Kind      string
	N, K      int
	Histogram map[string]int `json:"degree_histogram"`
	Count     []int          `json:"synapse_count"`
	Times     []int          `json:"times_strengthened"`
	Weight    []float64
	Alpha     []float64
	Recovered []int
	Rounds    []float64
	Overlap   []int `json:"overlap_count"`
	Posterior map[string]any
}

func (g *bayesGolden) degrees() Degrees {
	d := Degrees{K: g.K}
	for v := range g.K + 1 {
		for range g.Histogram[strconv.Itoa(v)] {
			d.Count = append(d.Count, v)
		}
	}
	return d
}

func (g *bayesGolden) fit() (*infer.Fit, error) {
	ctx, c := context.Background(), infer.Settings{Seed: 11}
	switch g.Kind {
	case "conjugate_p":
		return FitP(ctx, g.degrees(), c)
	case "beta_from_weights":
		return FitBeta(ctx, Strengths{g.Weight, g.Count, g.Times}, c)
	case "pattern_completion_curve":
		return FitCompletion(ctx, Completion{g.Alpha, g.Recovered, g.K}, c)
	}
	return FitAssociation(ctx, Association{g.Rounds, g.Overlap, g.K}, c)
}

// Posteriors agree with exact ones and quadrature: means within 0.1 sd, sd within
// 10 %. With 2000 effective draws the standard error of a mean is 0.022 sd and of an
// sd 1.6 %, so false alarms are below 1e-4; the seed is fixed.
func TestPosteriorGoldens(t *testing.T) {
	var all []bayesGolden
	golden.JSON(t, &all, "assemblies", "bayes_goldens.json")
	for _, g := range all {
		t.Run(g.Kind, func(t *testing.T) {
			want := g.Posterior
			if g.Kind == "conjugate_p" {
				a, b, err := g.degrees().Beta()
				if err != nil || a != want["alpha"].(float64) || b != want["beta"].(float64) {
					t.Errorf("Beta(%g, %g), %v: want %v, %v", a, b, err, want["alpha"], want["beta"])
				}
				want = map[string]any{"p": want}
			}
			fit, err := g.fit()
			if err != nil {
				t.Fatal(err)
			}
			s := fit.Summary()
			for name, v := range want {
				w := v.(map[string]any)
				mean, sd := w["mean"].(float64), w["sd"].(float64)
				r := s.Row(name)
				if r == nil {
					t.Fatalf("no column %s among %v", name, fit.Names())
				}
				shift, spread := (r.Mean-mean)/sd, r.SD/sd-1
				t.Logf("%s: mean off by %.3f sd, sd by %.1f %%, ESS %.0f, R-hat %.4f", name, shift, 100*spread, r.ESSBulk, r.RHat)
				if math.Abs(shift) > 0.1 || math.Abs(spread) > 0.1 || r.ESSBulk < 2000 || !(r.RHat < 1.01) {
					t.Errorf("%s: mean %g, sd %g, ESS %.0f, R-hat %.4f: want mean %g, sd %g", name, r.Mean, r.SD, r.ESSBulk, r.RHat, mean, sd)
				}
			}
			if n := fit.Divergent(); n > 0 {
				t.Errorf("%d divergences", n)
			}
		})
	}
}

func TestBadObservations(t *testing.T) {
	ctx, c := context.Background(), infer.Settings{}
	fits := map[string]func() (*infer.Fit, error){
		"count[1] is 7, but k is 5":           func() (*infer.Fit, error) { return FitP(ctx, Degrees{[]int{1, 7}, 5}, c) },
		"the list of counts, count, is empty": func() (*infer.Fit, error) { return FitP(ctx, Degrees{K: 5}, c) },
		"out of K = 0":                        func() (*infer.Fit, error) { return FitP(ctx, Degrees{Count: []int{0}}, c) },
		"2 weights, 1 count":                  func() (*infer.Fit, error) { return FitBeta(ctx, Strengths{[]float64{1, 2}, []int{1}, []int{1, 2}}, c) },
		"weight[0] is NaN": func() (*infer.Fit, error) {
			return FitBeta(ctx, Strengths{[]float64{math.NaN()}, []int{1}, []int{1}}, c)
		},
		"count[0] is 0": func() (*infer.Fit, error) { return FitBeta(ctx, Strengths{[]float64{1}, []int{0}, []int{1}}, c) },
		"alpha[0] is NaN": func() (*infer.Fit, error) {
			return FitCompletion(ctx, Completion{[]float64{math.NaN()}, []int{1}, 3}, c)
		},
		"2 fractions alpha, but 1": func() (*infer.Fit, error) { return FitCompletion(ctx, Completion{[]float64{.1, .2}, []int{1}, 3}, c) },
		"overlap[0] is -1":         func() (*infer.Fit, error) { return FitAssociation(ctx, Association{[]float64{10}, []int{-1}, 3}, c) },
		"round[0] is +Inf": func() (*infer.Fit, error) {
			return FitAssociation(ctx, Association{[]float64{math.Inf(1)}, []int{1}, 3}, c)
		},
	}
	for want, f := range fits {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v: want %q in it", err, want)
		}
	}
}
