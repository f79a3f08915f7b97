// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// PERT is the Beta distribution stretched to low..high, with its mode at peak. lambda is
// the strength of the concentration around peak; 4 is customary.
//
//	y = (x-low)/(high-low), log p = log Beta(y | a, b) - log(high-low),
//	a = 1 + lambda (peak-low)/(high-low), b = 1 + lambda (high-peak)/(high-low)
func PERT(low, peak, high, lambda any) Dist {
	p := Nodes(low, peak, high, lambda)
	width := ad.Sub(p[2], p[0])
	share := func(part *ad.Node) *ad.Node { return ad.Shift(ad.Mul(p[3], ad.Div(part, width)), 1) }
	a, b := share(ad.Sub(p[1], p[0])), share(ad.Sub(p[2], p[1]))
	s := func(x *ad.Node) *ad.Node { return ad.Sub(ad.Log(ad.Sub(x, p[0])), ad.Log(ad.Sub(p[2], x))) }
	return Dist{Name: "pert", Params: p, Support: Support{Lower: p[0], Upper: p[2]},
		endsOf: func(x *ad.Node) []endpoint {
			ends := unitEnds(a, b, func() (first, second *ad.Node) { return ad.Log(b), ad.Log(a) })(ad.Div(ad.Sub(x, p[0]), width))
			for i := range ends {
				ends[i].value = ad.Sub(ends[i].value, ad.Log(width))
			}
			return ends
		},
		LogProbOf: func(x *ad.Node) *ad.Node {
			left, right := ad.Sub(x, p[0]), ad.Sub(p[2], x)
			core := ad.LogBetaDensity(a, b, s(x))
			return ad.Add(core, ad.Sub(ad.Log(width), ad.Add(ad.Log(left), ad.Log(right))))
		},
		LogCDFOf:  func(x *ad.Node) *ad.Node { return ad.LogBetaI(a, b, s(x)) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return ad.LogBetaI(b, a, ad.Neg(s(x))) },
		RandOf: func(src Source, p []float64) float64 {
			a, b := pertShapes(p)
			return p[0] + (p[2]-p[0])/(1+math.Exp(-logitBeta(src, a, b)))
		},
		CDFOf: func(x float64, p []float64) float64 {
			a, b := pertShapes(p)
			return lowerBeta(a, b, math.Log(x-p[0])-math.Log(p[2]-x))
		},
		MeanOf: func(p []float64) float64 { return (p[0] + p[3]*p[1] + p[2]) / (2 + p[3]) },
		VarianceOf: func(p []float64) float64 {
			a, b := pertShapes(p)
			w := (p[2] - p[0]) / (a + b)
			return w * w * a * b / (a + b + 1)
		},
	}
}

func pertShapes(p []float64) (a, b float64) {
	w := p[2] - p[0]
	return 1 + p[3]*(p[1]-p[0])/w, 1 + p[3]*(p[2]-p[1])/w
}

func init() {
	register(Family{Name: "pert", Params: []string{"low", "peak", "high", "lambda"}, Want: []Support{Real, Real, Real, NonNegative},
		Order: []Order{{Low: "low", High: "peak", Equal: true}, {Low: "peak", High: "high", Equal: true}, {Low: "low", High: "high"}},
		Make:  func(p ...any) Dist { return PERT(p[0], p[1], p[2], p[3]) },
		At:    [][]float64{{0, 1, 4, 4}, {-1, 0.5, 1, 2}}})
}
