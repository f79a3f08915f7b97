// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Triangle is the distribution whose density rises linearly from low to mode and falls
// linearly to high.
//
//	p = 2/(high-low) times (x-low)/(mode-low) or (high-x)/(high-mode)
func Triangle(low, high, mode any) Dist {
	p := Nodes(low, high, mode)
	width := ad.Sub(p[1], p[0])
	// Whether x is on the left of the mode, and the density at x relative to that at the
	// mode.
	height := func(x *ad.Node) (left, h *ad.Node) {
		left = ad.Less(x, p[2])
		right := ad.Mul(ad.GreaterEqual(x, p[2]), ad.Less(p[2], p[1])) // the derivative at the mode is that of the right
		ratio := func(side, part, whole *ad.Node) *ad.Node {
			return ad.Div(ad.Where(side, part, one), ad.Where(side, whole, one))
		}
		return left, ad.Mul(ratio(left, ad.Sub(x, p[0]), ad.Sub(p[2], p[0])), ratio(right, ad.Sub(p[1], x), ad.Sub(p[1], p[2])))
	}
	tail := func(x *ad.Node, upper bool) *ad.Node {
		left, h := height(x)
		if upper {
			left = ad.Sub(one, left)
		}
		near := ad.Div(ad.Mul(h, ad.Where(ad.Less(x, p[2]), ad.Sub(x, p[0]), ad.Sub(p[1], x))), width)
		return ad.Where(left, ad.Log(near), ad.Log1p(ad.Neg(ad.Where(left, zero, near))))
	}
	return Dist{Name: "triangle", Params: p, Support: Support{Lower: p[0], Upper: p[1]},
		LogProbOf: func(x *ad.Node) *ad.Node {
			_, h := height(x)
			return ad.Shift(ad.Sub(ad.Log(h), ad.Log(width)), math.Ln2)
		},
		LogCDFOf:   func(x *ad.Node) *ad.Node { return tail(x, false) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return tail(x, true) },
		RandOf:     func(src Source, p []float64) float64 { return triangleQuantile(open(src), p) },
		CDFOf:      triangleCDF,
		QuantileOf: triangleQuantile,
		MeanOf:     func(p []float64) float64 { return (p[0] + p[1] + p[2]) / 3 },
		VarianceOf: func(p []float64) float64 {
			a, b := p[1]-p[0], p[2]-p[0]
			return (a*a + b*b - a*b) / 18
		},
	}
}

func triangleCDF(x float64, p []float64) float64 {
	if x < p[2] {
		return (x - p[0]) / (p[1] - p[0]) * ((x - p[0]) / (p[2] - p[0]))
	}
	if p[1] == p[2] {
		return 1
	}
	return 1 - (p[1]-x)/(p[1]-p[0])*((p[1]-x)/(p[1]-p[2]))
}

func triangleQuantile(u float64, p []float64) float64 {
	if w := p[1] - p[0]; u*w < p[2]-p[0] {
		return p[0] + math.Sqrt(u*w*(p[2]-p[0]))
	} else {
		return p[1] - math.Sqrt((1-u)*w*(p[1]-p[2]))
	}
}

func init() {
	register(Family{Name: "triangle", Params: []string{"low", "high", "mode"}, Want: []Support{Real, Real, Real},
		Order: []Order{{Low: "low", High: "mode", Equal: true}, {Low: "mode", High: "high", Equal: true}, {Low: "low", High: "high"}},
		Make:  func(p ...any) Dist { return Triangle(p[0], p[1], p[2]) },
		At:    [][]float64{{0, 3, 1}, {-1, 1, 0.5}}})
}
