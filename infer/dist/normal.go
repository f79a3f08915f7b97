// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/mathext"
)

// Normal is the Gaussian distribution with mean mu and standard deviation sigma.
//
//	log p = -((x-mu)/sigma)^2/2 - log sigma - log(2 pi)/2
func Normal(mu, sigma any) Dist {
	p := Nodes(mu, sigma)
	z := func(x *ad.Node) *ad.Node { return standard(x, p[0], p[1]) }
	return Dist{Name: "normal", Params: p, Support: Real,
		LogProbOf: func(x *ad.Node) *ad.Node { return normalLog(z(x), p[1]) },
		LogCDFOf:  func(x *ad.Node) *ad.Node { return ad.LogPhi(z(x)) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return ad.LogPhi(ad.Neg(z(x))) },
		between:   func(lower, upper *ad.Node) *ad.Node { return ad.LogPhiDiff(z(lower), z(upper)) },
		randBetween: func(src Source, lo, hi float64, p []float64) float64 {
			return min(max(p[0]+p[1]*normalBetween(src, (lo-p[0])/p[1], (hi-p[0])/p[1]), lo), hi)
		},
		RandOf:     func(src Source, p []float64) float64 { return p[0] + p[1]*src.Normal() },
		CDFOf:      func(x float64, p []float64) float64 { return phi((x - p[0]) / p[1]) },
		QuantileOf: func(u float64, p []float64) float64 { return p[0] + p[1]*mathext.NormalQuantile(u) },
		MeanOf:     func(p []float64) float64 { return p[0] },
		VarianceOf: func(p []float64) float64 { return p[1] * p[1] },
	}
}

// NormalID is Normal with mean alpha + x beta: linear regression with a design matrix x
// (observations, predictors), coefficients beta and the identity link.
func NormalID(x, alpha, beta, sigma any) Dist { return Normal(linear(x, alpha, beta), sigma) }

// linear returns alpha + x beta, a vector with one number per row of x.
func linear(x, alpha, beta any) *ad.Node {
	n := Nodes(x, alpha, beta)
	return ad.Add(n[1], ad.MatMul(n[0], n[2]))
}

// normalLog returns the log density at a distance of z standard deviations sigma from the
// mean.
func normalLog(z, sigma *ad.Node) *ad.Node {
	return ad.Sub(ad.Shift(ad.Scale(-0.5, ad.Square(z)), -halfLogTwoPi), ad.Log(sigma))
}

var halfLogTwoPi = math.Log(2*math.Pi) / 2

func init() {
	register(Family{Name: "normal", Params: []string{"mu", "sigma"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return Normal(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {1.5, 0.2}}})
}
