// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// StudentT is Student's distribution with nu degrees of freedom, location mu and scale
// sigma.
//
//	log p = log Gamma((nu+1)/2) - log Gamma(nu/2) - log(nu pi)/2 - log sigma
//	        - (nu+1)/2 log(1 + z^2/nu), z = (x-mu)/sigma
func StudentT(nu, mu, sigma any) Dist {
	p := Nodes(nu, mu, sigma)
	left := func(z *ad.Node) *ad.Node {
		return smoothSided(z, ad.Exp(studentNorm(p[0])), func(size, _ *ad.Node) *ad.Node { return studentTail(p[0], size) })
	}
	return Dist{Name: "studentt", Params: p, Support: Real,
		LogProbOf: func(x *ad.Node) *ad.Node {
			z := standard(x, p[1], p[2])
			return ad.Sub(ad.Sub(studentNorm(p[0]), ad.Log(p[2])), studentFall(p[0], z))
		},
		LogCDFOf:  func(x *ad.Node) *ad.Node { return left(standard(x, p[1], p[2])) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return left(standard(p[1], x, p[2])) },
		RandOf: func(src Source, p []float64) float64 {
			return p[1] + p[2]*src.Normal()*math.Exp(0.5*(math.Log(p[0]/2)-logGamma(src, p[0]/2)))
		},
		CDFOf:      func(x float64, p []float64) float64 { return studentCDF(p[0], (x-p[1])/p[2]) },
		QuantileOf: func(u float64, p []float64) float64 { return p[1] + p[2]*studentQuantile(p[0], u) },
		MeanOf:     func(p []float64) float64 { return finiteIf(p[0] > 1, p[1], math.NaN()) },
		VarianceOf: func(p []float64) float64 {
			return finiteIf(p[0] > 2, p[2]*p[2]*p[0]/(p[0]-2), finiteIf(p[0] > 1, math.Inf(1), math.NaN()))
		},
	}
}

// studentFall returns (nu+1)/2 log(1 + z^2/nu).
func studentFall(nu, z *ad.Node) *ad.Node {
	return ad.Scale(0.5, ad.Add(ad.SquareFall(nu, z), ad.Log1pSquare(ad.Div(z, ad.Sqrt(nu)))))
}

// finiteIf returns v if the moment exists, and otherwise the given value.
func finiteIf(exists bool, v, otherwise float64) float64 {
	if exists {
		return v
	}
	return otherwise
}

// studentNorm returns log Gamma((nu+1)/2) - log Gamma(nu/2) - log(nu pi)/2. With h = nu/2
// and the Stirling error s, this is
//
//	s(h+1/2) - s(h) + h log(1 + 1/(2h)) - 1/2 - log(2 pi)/2
func studentNorm(nu *ad.Node) *ad.Node {
	h := ad.Scale(0.5, nu)
	s := ad.Sub(ad.StirlingError(ad.Shift(h, 0.5)), ad.StirlingError(h))
	return ad.Shift(ad.Add(s, ad.Mul(h, ad.Log1p(ad.Reciprocal(nu)))), -0.5-halfLogTwoPi)
}

// studentTail returns the logarithm of the probability beyond a distance size > 0.
func studentTail(nu, size *ad.Node) *ad.Node {
	s := ad.Sub(ad.Log(nu), ad.Scale(2, ad.Log(size)))
	return ad.Shift(ad.LogBetaI(ad.Scale(0.5, nu), ad.Scalar(0.5), s), -math.Ln2)
}

func studentCDF(nu, z float64) float64 {
	if z < 0 {
		return lowerBeta(nu/2, 0.5, math.Log(nu)-2*math.Log(-z)) / 2
	}
	return 0.5 + lowerBeta(0.5, nu/2, 2*math.Log(z)-math.Log(nu))/2
}

func studentQuantile(nu, u float64) float64 {
	if u > 0.5 {
		return -studentQuantile(nu, 1-u)
	}
	return bisect(u, func(z float64) float64 { return studentCDF(nu, z) }, math.Inf(-1), 0)
}

func init() {
	register(Family{Name: "studentt", Params: []string{"nu", "mu", "sigma"}, Want: []Support{Positive, Real, Positive},
		Make: func(p ...any) Dist { return StudentT(p[0], p[1], p[2]) },
		At:   [][]float64{{4, 0, 1}, {2.5, 1, 0.3}}})
}
