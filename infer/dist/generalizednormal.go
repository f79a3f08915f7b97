// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// GeneralizedNormal (exponential power) is the symmetric distribution with location mu,
// scale alpha and shape beta. beta = 1 is Laplace, beta = 2 is normal, and large values
// are flat.
//
//	log p = log beta - log(2 alpha) - log Gamma(1/beta) - (|x-mu|/alpha)^beta
func GeneralizedNormal(mu, alpha, beta any) Dist {
	p := Nodes(mu, alpha, beta)
	z := func(x *ad.Node) *ad.Node { return standard(x, p[0], p[1]) }
	// log(beta/(2 Gamma(1/beta))) = -log(2 Gamma(1 + 1/beta))
	norm := func() *ad.Node {
		return ad.Neg(ad.Shift(lgamma1p(ad.Reciprocal(p[2])), math.Ln2))
	}
	left := func(z *ad.Node) *ad.Node {
		return smoothSided(z, ad.Exp(norm()), func(size, left *ad.Node) *ad.Node {
			logT := ad.Mul(p[2], ad.Log(size))
			logT = ad.Where(left, logT, finitePower(logT))
			return ad.Shift(logGammaQ(ad.Reciprocal(p[2]), ad.Exp(logT), logT), -math.Ln2)
		})
	}
	d := Dist{Name: "generalizednormal", Params: p, Support: Real,
		LogProbOf: func(x *ad.Node) *ad.Node {
			middle := ad.Equal(x, p[0]) // where the derivative is taken as 0, also for a beta of at most 1
			fall := ad.Where(middle, zero, ad.Pow(ad.Where(middle, one, ad.Abs(z(x))), p[2]))
			return ad.Sub(ad.Sub(norm(), ad.Log(p[1])), fall)
		},
		LogCDFOf:  func(x *ad.Node) *ad.Node { return left(z(x)) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return left(ad.Neg(z(x))) },
		RandOf: func(src Source, p []float64) float64 {
			size := math.Exp(logGamma(src, 1/p[2]) / p[2])
			return p[0] + math.Copysign(p[1]*size, src.Float64()-0.5)
		},
		MeanOf: func(p []float64) float64 { return p[0] },
		VarianceOf: func(p []float64) float64 {
			a, _ := math.Lgamma(3 / p[2])
			b, _ := math.Lgamma(1 / p[2])
			return p[1] * p[1] * math.Exp(a-b)
		},
	}
	d.CDFOf = d.graphCDF()
	return d
}

func init() {
	register(Family{Name: "generalizednormal", Params: []string{"mu", "alpha", "beta"}, Want: []Support{Real, Positive, Positive},
		Make: func(p ...any) Dist { return GeneralizedNormal(p[0], p[1], p[2]) },
		At:   [][]float64{{0, 1, 1.5}, {1, 2, 8}}})
}
