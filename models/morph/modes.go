// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

const halfPi = math.Pi / 2

// Modes are real waves in the plane of a film, periodic at its edges: 1, and the cosine
// and the sine of 2 pi (i x/nx + j y/ny) for integers |i|, |j| up to the order, with one
// of each pair of opposite waves.
type Modes struct {
	Count int      // number of waves, (2 order + 1)^2
	waves *ad.Node // the waves, [count, 1, Y, X]
}

// Modes returns the waves up to an order.
func (g Grid) Modes(order int) Modes {
	ny, nx := g.Shape[1], g.Shape[2]
	m := Modes{}
	var all []float64
	wave := func(f func(phase float64) float64, i, j int) {
		m.Count++
		for y := range ny {
			for x := range nx {
				all = append(all, f(2*math.Pi*(float64(i*x)/float64(nx)+float64(j*y)/float64(ny))))
			}
		}
	}
	for j := 0; j <= order; j++ {
		for i := -order; i <= order; i++ {
			switch {
			case j == 0 && i < 0:
			case j == 0 && i == 0:
				wave(math.Cos, 0, 0)
			default:
				wave(math.Cos, i, j)
				wave(math.Sin, i, j)
			}
		}
	}
	m.waves = ad.Const(all, m.Count, 1, ny, nx)
	return m
}

// sum returns the sum [1, Y, X] of the waves multiplied by their coefficients.
func (m Modes) sum(coefficients *ad.Node) *ad.Node {
	return ad.SumAxes(ad.Mul(ad.Reshape(coefficients, m.Count, 1, 1, 1), m.waves), 0)
}
