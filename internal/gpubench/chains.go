// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gpubench

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// schools is the hierarchy of eight schools in its non-centred form.
func schools() *infer.Model {
	m := infer.NewModel("schools")
	school := m.Dim("school", "A", "B", "C", "D", "E", "F", "G", "H")
	mu, tau := m.Param("mu", dist.Normal(0, 5)), m.Param("tau", dist.HalfCauchy(5))
	theta := m.Param("theta", dist.Normal(mu, tau), infer.NonCentred(), infer.Over(school))
	m.Observe("y", dist.Normal(theta, m.Data("sd", []float64{15, 10, 16, 11, 9, 11, 10, 18}, infer.Over(school))), []float64{28, 8, -3, 7, -1, 1, 18, 12}, infer.Over(school))
	return m
}

// regression is linear, with some coefficients and rows.
func regression(d, rows int) *infer.Model {
	m := infer.NewModel("regression")
	x := make([]float64, rows*d)
	for i := range x {
		x[i] = math.Cos(float64(i))
	}
	beta, sigma := m.Param("beta", dist.Normal(0, 1), infer.Shape(d)), m.Param("sigma", dist.HalfNormal(1))
	mean := ad.MatMul(m.Data("x", x, infer.Shape(rows, d)), ad.Reshape(beta, d, 1))
	m.Observe("y", dist.Normal(ad.Reshape(mean, rows), sigma), make([]float64, rows))
	return m
}

func init() {
	chains := func(name string, measured float64, model func() *infer.Model, note string) roofline.Figure {
		return roofline.Figure{Name: name, Measured: measured, Note: note, Do: func() ([]roofline.Launch, error) {
			post, err := model().Compile()
			if err != nil {
				return nil, err
			}
			return roofline.Trajectories(post, 256)
		}}
	}
	roofline.Register(
		chains("256 chains of ChEES, eight schools: a leapfrog", 164e-6, schools, "The measured time of all 2000 iterations was divided by the leapfrogs: adaptation, draws and sums of the chains on the processor are in it, and the copies and waits of each trajectory."),
		chains("256 chains of ChEES, 100 coefficients and 1000 rows: a leapfrog", 330e-6, func() *infer.Model { return regression(100, 1000) }, "As of eight schools; the product with the data was cuBLAS's when it was measured."),
	)
}
