// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import ad "github.com/euryale-dev/euryale/autodiff"

// PointMass is the distribution with the single value at. As a component of Mixture it
// adds probability to that value, whether or not another component can take it.
func PointMass(at any) Dist {
	p := Nodes(at)
	return Dist{Name: "pointmass", Params: p, Support: Support{Lower: p[0], Upper: p[0]}, Discrete: true,
		InsideOf:   func(x *ad.Node) *ad.Node { return ad.Equal(x, p[0]) },
		Center:     p[0],
		LogProbOf:  func(*ad.Node) *ad.Node { return zero },
		LogCDFOf:   func(*ad.Node) *ad.Node { return zero },
		LogCCDFOf:  func(*ad.Node) *ad.Node { return zero },
		RandOf:     func(_ Source, p []float64) float64 { return p[0] },
		CDFOf:      func(float64, []float64) float64 { return 1 },
		QuantileOf: func(_ float64, p []float64) float64 { return p[0] },
		MeanOf:     func(p []float64) float64 { return p[0] },
		VarianceOf: func([]float64) float64 { return 0 },
	}
}

func init() {
	register(Family{Name: "pointmass", Params: []string{"at"}, Want: []Support{Real},
		Make: func(p ...any) Dist { return PointMass(p[0]) },
		At:   [][]float64{{2}}})
}
