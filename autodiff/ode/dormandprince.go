// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode

import ad "github.com/euryale-dev/euryale/autodiff"

// The tableau of Dormand and Prince, doi:10.1016/0771-050X(80)90013-3, table 2.
var (
	dpC = []float64{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1}
	dpA = [][]float64{
		nil,
		{1. / 5},
		{3. / 40, 9. / 40},
		{44. / 45, -56. / 15, 32. / 9},
		{19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
		{9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
		{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
	}
	dpE = []float64{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40}
)

// dormandPrince returns the state after a step and the estimate of its error.
func (g *graph) dormandPrince() (next, estimate []*ad.Node) {
	k := g.stages(dpC, dpA)
	return g.plus(g.y, true, dpA[len(dpA)-1], k), g.plus(g.zeros(), true, dpE, k)
}

// stages returns the rates at the stages of an explicit method.
func (g *graph) stages(c []float64, a [][]float64) (k [][]*ad.Node) {
	y, t := g.y, g.t
	for i := range c {
		if i > 0 {
			y = g.plus(g.y, true, a[i], k)
			t = ad.Add(g.t, ad.Scale(c[i], g.h))
		}
		k = append(k, g.rate(t, y, g.p))
	}
	return k
}

// zeros is a state that is 0.
func (g *graph) zeros() []*ad.Node {
	zero := make([]*ad.Node, len(g.y))
	for i := range zero {
		zero[i] = ad.Full(0, g.y[i].Shape()...)
	}
	return zero
}
