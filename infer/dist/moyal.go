// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/mathext"
)

// Moyal is the distribution of the energy loss of charged particles, an approximation to
// the Landau distribution. It is the distribution of loc - scale log(n^2) for a standard
// normal number n.
//
//	log p = -(z + exp(-z))/2 - log(2 pi)/2 - log scale, z = (x-loc)/scale
//
// Reference: Moyal, doi 10.1080/14786440308521076.
func Moyal(loc, scale any) Dist {
	p := Nodes(loc, scale)
	z := func(x *ad.Node) *ad.Node { // clipped so that z + exp(-z) is infinite, not NaN
		return ad.Maximum(standard(x, p[0], p[1]), ad.Scalar(-math.MaxFloat64))
	}
	// The value of |n| at x.
	size := func(x *ad.Node) *ad.Node { return ad.Exp(ad.Scale(-0.5, z(x))) }
	return Dist{Name: "moyal", Params: p, Support: Real,
		LogProbOf: func(x *ad.Node) *ad.Node {
			fall := ad.Scale(-0.5, ad.Add(z(x), ad.Exp(ad.Neg(z(x)))))
			return ad.Sub(ad.Shift(fall, -halfLogTwoPi), ad.Log(p[1]))
		},
		LogCDFOf: func(x *ad.Node) *ad.Node { return logErfc(ad.Scale(math.Sqrt2/2, size(x))) },
		LogCCDFOf: func(x *ad.Node) *ad.Node {
			logSize := finitePower(ad.Scale(-0.5, z(x)))
			return logErf(ad.Scale(math.Sqrt2/2, ad.Exp(logSize)), ad.Shift(logSize, -math.Ln2/2))
		},
		RandOf: func(src Source, p []float64) float64 { return p[0] - 2*p[1]*math.Log(math.Abs(src.Normal())) },
		CDFOf:  func(x float64, p []float64) float64 { return math.Erfc(math.Exp((p[0]-x)/(2*p[1])) * math.Sqrt2 / 2) },
		QuantileOf: func(u float64, p []float64) float64 {
			return p[0] - 2*p[1]*math.Log(-mathext.NormalQuantile(u/2))
		},
		MeanOf:     func(p []float64) float64 { return p[0] + p[1]*(math.Ln2+0.57721566490153286) },
		VarianceOf: func(p []float64) float64 { return p[1] * p[1] * math.Pi * math.Pi / 2 },
	}
}

func init() {
	register(Family{Name: "moyal", Params: []string{"loc", "scale"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return Moyal(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {2, 0.5}}})
}
