// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/mathext"
)

// LogNormal is the distribution of exp(x) for a normal number x with mean mu and standard
// deviation sigma.
//
//	log p = -((log x - mu)/sigma)^2/2 - log x - log sigma - log(2 pi)/2, x > 0
func LogNormal(mu, sigma any) Dist {
	p := Nodes(mu, sigma)
	z := func(x *ad.Node) *ad.Node { return standard(ad.Log(x), p[0], p[1]) }
	return Dist{Name: "lognormal", Params: p, Support: Positive,
		LogProbOf:  func(x *ad.Node) *ad.Node { return ad.Sub(normalLog(z(x), p[1]), ad.Log(x)) },
		LogCDFOf:   func(x *ad.Node) *ad.Node { return ad.LogPhi(z(x)) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return ad.LogPhi(ad.Neg(z(x))) },
		between:    func(lower, upper *ad.Node) *ad.Node { return ad.LogPhiDiff(z(lower), z(upper)) },
		RandOf:     func(src Source, p []float64) float64 { return math.Exp(p[0] + p[1]*src.Normal()) },
		CDFOf:      func(x float64, p []float64) float64 { return phi((math.Log(x) - p[0]) / p[1]) },
		QuantileOf: func(u float64, p []float64) float64 { return math.Exp(p[0] + p[1]*mathext.NormalQuantile(u)) },
		MeanOf:     func(p []float64) float64 { return math.Exp(p[0] + p[1]*p[1]/2) },
		VarianceOf: func(p []float64) float64 {
			return math.Expm1(p[1]*p[1]) * math.Exp(2*p[0]+p[1]*p[1])
		},
	}
}

func init() {
	register(Family{Name: "lognormal", Params: []string{"mu", "sigma"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return LogNormal(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {0.5, 0.3}}})
}
