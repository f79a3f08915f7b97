// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Logistic is the distribution with location mu and scale s whose distribution function
// is the logistic function of z = (x-mu)/s.
//
//	log p = -z - log s - 2 log(1 + exp(-z)), which is the same for z and -z
func Logistic(mu, s any) Dist {
	p := Nodes(mu, s)
	z := func(x *ad.Node) *ad.Node { return standard(x, p[0], p[1]) }
	return Dist{Name: "logistic", Params: p, Support: Real,
		LogProbOf: func(x *ad.Node) *ad.Node {
			size := ad.Abs(z(x))
			return ad.Neg(ad.Add(ad.Add(size, ad.Scale(2, ad.Softplus(ad.Neg(size)))), ad.Log(p[1])))
		},
		LogCDFOf:   func(x *ad.Node) *ad.Node { return ad.LogSigmoid(z(x)) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return ad.LogSigmoid(ad.Neg(z(x))) },
		RandOf:     func(src Source, p []float64) float64 { return p[0] + p[1]*logit(open(src)) },
		CDFOf:      func(x float64, p []float64) float64 { return 1 / (1 + math.Exp((p[0]-x)/p[1])) },
		QuantileOf: func(u float64, p []float64) float64 { return p[0] + p[1]*logit(u) },
		MeanOf:     func(p []float64) float64 { return p[0] },
		VarianceOf: func(p []float64) float64 { return p[1] * p[1] * math.Pi * math.Pi / 3 },
	}
}

func init() {
	register(Family{Name: "logistic", Params: []string{"mu", "s"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return Logistic(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {1, 0.2}}})
}
