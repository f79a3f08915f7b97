// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// A likelihood that has nothing but its density, or whose draws are wrong, is sampled and stored. The check of the
// model leaves it out and says why, and says nothing against the model.
func TestModelCheckWithoutDraws(t *testing.T) {
	for want, rand := range map[string]func(src dist.Source, p []float64) float64{
		"the distribution mine of the observation y cannot be drawn from, so the model was not checked by simulation: set RandOf": nil,
		"are outside its support, such as NaN": func(dist.Source, []float64) float64 { return math.NaN() },
		"are outside its support, such as -5":  func(dist.Source, []float64) float64 { return -5 },
	} {
		m := infer.NewModel("m")
		b := m.Param("b", dist.HalfNormal(5))
		m.Observe("y", dist.Dist{Name: "mine", Params: []*ad.Node{b}, Support: dist.Positive, RandOf: rand,
			LogProbOf: func(x *ad.Node) *ad.Node { return ad.Sub(ad.Log(b), ad.Mul(b, x)) }}, []float64{0.1, 0.7, 0.3, 1.2, 0.5, 0.9})
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		fit, err := infer.Sample(context.Background(), post, infer.Config{Seed: 1, Warmup: 100, Draws: 100})
		if err != nil {
			t.Fatal(err)
		}
		v, err := fit.CheckModel(infer.CheckSettings{})
		if err != nil {
			t.Fatal(err)
		}
		if text := v.String(); !strings.Contains(text, want) || strings.Contains(text, "has no observations") || strings.Contains(text, "disagrees") {
			t.Errorf("want %q: %s", want, text)
		}
		tree, err := fit.Data(infer.DataSettings{Predictive: true})
		if err != nil {
			t.Fatal(err)
		}
		if !tree.Has("posterior") {
			t.Error("no posterior")
		}
		if there := tree.Has("posterior_predictive"); there != (rand != nil) {
			t.Error("posterior_predictive:", there)
		}
	}
}
