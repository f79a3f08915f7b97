// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// tempered are models whose densities are cheap, like eight schools, and dearer: a logistic regression of 200 rows.
func tempered() map[string]*Model {
	schools := NewModel("schools")
	mu, tau := schools.Param("mu", dist.Normal(0, 5)), schools.Param("tau", dist.HalfCauchy(5))
	theta := ad.Add(mu, ad.Mul(tau, schools.Param("z", dist.Normal(0, 1), Shape(8))))
	schools.Observe("y", dist.Normal(theta, schools.Data("se", []float64{15, 10, 16, 11, 9, 11, 10, 18})), []float64{28, 8, -3, 7, -1, 1, 18, 12})
	const rows, d = 200, 10
	random, x, y := tensor.NewStream(1, 2, 3), make([]float64, rows*d), make([]float64, rows)
	for i := range y {
		for k := range d {
			x[i*d+k] = random.Normal()
		}
		if x[i*d]+random.Normal() > 0 {
			y[i] = 1
		}
	}
	logistic := NewModel("logistic")
	beta := logistic.Param("beta", dist.Normal(0, 2), Shape(d))
	logistic.Observe("y", dist.BernoulliLogit(ad.Reshape(ad.MatMul(logistic.Data("x", x, Shape(rows, d)), ad.Reshape(beta, d, 1)), rows)), y)
	return map[string]*Model{"schools": schools, "logistic": logistic}
}

// BenchmarkSMC measures the evaluations of a run on one core.
func BenchmarkSMC(b *testing.B) {
	for name, m := range tempered() {
		b.Run(name, func(b *testing.B) {
			post, err := m.Compile()
			if err != nil {
				b.Fatal(err)
			}
			evaluations, seconds := 0, 0.0
			for seed := uint64(0); b.Loop(); seed++ {
				fit, err := Sample(b.Context(), post, Settings{Method: SMC, Draws: 250, Seed: seed, Parallel: 1})
				if err != nil {
					b.Fatal(err)
				}
				_, n := fit.Gradients()
				w, _ := fit.Gradients()
				evaluations, seconds = evaluations+w+n, seconds+fit.Elapsed.Seconds()
			}
			b.ReportMetric(float64(evaluations)/seconds/1e6, "M-evaluations/s")
			b.ReportMetric(float64(evaluations)/float64(b.N), "evaluations")
		})
	}
}
