// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// HalfNormal is the distribution of |x| for a normal number x with mean 0 and standard
// deviation sigma.
//
//	log p = -(x/sigma)^2/2 - log sigma + log(2/pi)/2, x >= 0
func HalfNormal(sigma any) Dist {
	p := Nodes(sigma)
	z := func(x *ad.Node) *ad.Node { return ad.Div(x, p[0]) }
	return Dist{Name: "halfnormal", Params: p, Support: NonNegative,
		LogProbOf: func(x *ad.Node) *ad.Node { return ad.Shift(normalLog(z(x), p[0]), math.Ln2) },
		LogCDFOf: func(x *ad.Node) *ad.Node {
			return logErf(ad.Scale(math.Sqrt2/2, z(x)), ad.Shift(logRatio(x, p[0]), -math.Ln2/2))
		},
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return logErfc(ad.Scale(math.Sqrt2/2, z(x))) },
		RandOf:     func(src Source, p []float64) float64 { return p[0] * math.Abs(src.Normal()) },
		CDFOf:      func(x float64, p []float64) float64 { return math.Erf(x / (p[0] * math.Sqrt2)) },
		QuantileOf: func(u float64, p []float64) float64 { return p[0] * math.Sqrt2 * math.Erfinv(u) },
		MeanOf:     func(p []float64) float64 { return p[0] * math.Sqrt(2/math.Pi) },
		VarianceOf: func(p []float64) float64 { return p[0] * p[0] * (1 - 2/math.Pi) },
	}
}

func init() {
	register(Family{Name: "halfnormal", Params: []string{"sigma"}, Want: []Support{Positive},
		Make: func(p ...any) Dist { return HalfNormal(p[0]) },
		At:   [][]float64{{1}, {0.1}}})
}
