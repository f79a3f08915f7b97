// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// AsymmetricLaplace is the distribution whose density decays exponentially with scale b
// kappa below mu and b/kappa above.
//
//	log p = -log(b (kappa + 1/kappa)) - (x-mu)/b s kappa^s, s = sign(x-mu)
func AsymmetricLaplace(mu, b, kappa any) Dist {
	p := Nodes(mu, b, kappa)
	// The logarithms of the probability below x, for x < mu, and above x, for other x.
	tails := func(x *ad.Node) (below, left, right *ad.Node) {
		z := standard(x, p[0], p[1])
		below = ad.Less(z, zero)
		left = ad.Sub(ad.Div(ad.Where(below, z, zero), p[2]), ad.Log1pSquare(ad.Reciprocal(p[2])))
		right = ad.Neg(ad.Add(ad.Mul(ad.Where(below, zero, z), p[2]), ad.Log1pSquare(p[2])))
		return below, left, right
	}
	return Dist{Name: "asymmetriclaplace", Params: p, Support: Real,
		LogProbOf: func(x *ad.Node) *ad.Node {
			z := standard(x, p[0], p[1])
			fall := ad.Where(ad.Less(z, zero), ad.Div(z, p[2]), ad.Neg(ad.Mul(z, p[2])))
			return ad.Sub(fall, ad.Log(ad.Mul(p[1], ad.Add(p[2], ad.Reciprocal(p[2])))))
		},
		LogCDFOf: func(x *ad.Node) *ad.Node {
			below, left, right := tails(x)
			return ad.Where(below, left, ad.Log1mExp(right))
		},
		LogCCDFOf: func(x *ad.Node) *ad.Node {
			below, left, right := tails(x)
			return ad.Where(below, ad.Log1mExp(left), right)
		},
		RandOf: func(src Source, p []float64) float64 {
			return p[0] + p[1]*(exponential(src)/p[2]-exponential(src)*p[2])
		},
		CDFOf: func(x float64, p []float64) float64 {
			z, k2 := (x-p[0])/p[1], p[2]*p[2]
			if z < 0 {
				return math.Exp(z/p[2]) * k2 / (1 + k2)
			}
			return (k2 - math.Expm1(-z*p[2])) / (1 + k2)
		},
		QuantileOf: func(u float64, p []float64) float64 {
			k2 := p[2] * p[2]
			if left := k2 / (1 + k2); u < left {
				return p[0] + p[1]*p[2]*math.Log(u/left)
			}
			return p[0] - p[1]/p[2]*math.Log((1-u)*(1+k2))
		},
		MeanOf:     func(p []float64) float64 { return p[0] + p[1]*(1/p[2]-p[2]) },
		VarianceOf: func(p []float64) float64 { return p[1] * p[1] * (1/(p[2]*p[2]) + p[2]*p[2]) },
	}
}

func init() {
	register(Family{Name: "asymmetriclaplace", Params: []string{"mu", "b", "kappa"}, Want: []Support{Real, Positive, Positive},
		Make: func(p ...any) Dist { return AsymmetricLaplace(p[0], p[1], p[2]) },
		At:   [][]float64{{0, 1, 2}, {1, 0.5, 0.25}}})
}
