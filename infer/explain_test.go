// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// A chain that finds no start names the transform that leaves the support, the datum without a density, and the parameter
// whose gradient is not finite.
func TestNoStartNamesTheCause(t *testing.T) {
	negative := func() dist.Transform {
		tr := dist.LowerTransform(0)
		tr.Name = "negative"
		tr.Constrain = func(x *ad.Node) (y, logJ *ad.Node) { return ad.Neg(ad.Exp(x)), ad.Sum(x) }
		return tr
	}
	logNormal := func(p ...*ad.Node) dist.Dist {
		return dist.Dist{Name: "mine", Params: p, LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Neg(ad.Add(ad.Log(x), ad.Scale(0.5, ad.Square(ad.Sub(ad.Log(x), p[0])))))
		}}
	}
	for want, declare := range map[string]func(m *infer.Model){
		`prior of nu is NaN, because the transform "negative" maps to -`: func(m *infer.Model) {
			d := logNormal(ad.Scalar(0))
			d.Support, d.TransformOf = dist.Positive, negative
			m.Observe("y", dist.Normal(m.Param("nu", d), 1), []float64{1, 2, 3})
		},
		"outside the support of mine": func(m *infer.Model) {
			d := logNormal(ad.Scalar(0))
			d.Support, d.TransformOf = dist.Positive, negative
			m.Observe("y", dist.Normal(m.Param("nu", d), 1), []float64{1, 2, 3})
		},
		"likelihood of y is NaN, first at y[1] = -0.5": func(m *infer.Model) {
			m.Observe("y", logNormal(m.Param("mu", dist.Normal(0, 1))), []float64{1, -0.5, 3})
		},
		"log density is -Inf, so the density is 0 there, likelihood of y is -Inf, first at y[0] = 1": func(m *infer.Model) {
			m.Observe("y", dist.Poisson(ad.Mul(m.Param("nu", dist.HalfNormal(1)), ad.Const([]float64{0, 1, 2}))), []float64{1, 2, 3})
		},
		"the gradient with respect to nu is NaN, where its unconstrained value is ": func(m *infer.Model) {
			nu := m.Param("nu", dist.HalfNormal(1))
			root := ad.Sqrt(ad.Mul(nu, ad.Const([]float64{0, 1}))) // its derivative at 0 is 0 times infinity
			m.Observe("y", dist.Normal(root, 1), []float64{1, 2})
		},
		"so an operation of the model has no finite derivative": func(m *infer.Model) {
			nu := m.Param("nu", dist.HalfNormal(1))
			m.Observe("y", dist.Normal(ad.Sqrt(ad.Mul(nu, ad.Const([]float64{0, 1}))), 1), []float64{1, 2})
		},
	} {
		m := infer.NewModel("m")
		declare(m)
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		_, err = infer.Sample(context.Background(), post, infer.Settings{Seed: 1, Warmup: 10, Draws: 10, InitTries: 3})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		} else if strings.Contains(want, "density is 0") && strings.Contains(err.Error(), "gradient") {
			t.Errorf("the gradient where the density is 0 is told: %v", err)
		}
	}
}
