// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/mathext"
)

// LogitNormal is the distribution on (0, 1) whose logit is Normal(mu, sigma).
//
//	log p = log Normal(logit x | mu, sigma) - log(x (1-x))
func LogitNormal(mu, sigma any) Dist {
	p := Nodes(mu, sigma)
	z := func(x *ad.Node) *ad.Node { return standard(logitNode(x), p[0], p[1]) }
	sigmoid := func(s float64) float64 { return 1 / (1 + math.Exp(-s)) }
	moment := func(power int, p []float64) float64 { // moments of the sigmoid of a normal number
		sum := 0.0
		for at := -10.0; at < 10; at++ {
			sum += integrate(func(t float64) float64 {
				return math.Exp(-t*t/2-halfLogTwoPi) * math.Pow(sigmoid(p[0]+p[1]*t), float64(power))
			}, at, at+1)
		}
		return sum
	}
	return Dist{Name: "logitnormal", Params: p, Support: Unit,
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Sub(normalLog(z(x), p[1]), ad.Add(ad.Log(x), ad.Log1p(ad.Neg(x))))
		},
		LogCDFOf:   func(x *ad.Node) *ad.Node { return ad.LogPhi(z(x)) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return ad.LogPhi(ad.Neg(z(x))) },
		RandOf:     func(src Source, p []float64) float64 { return sigmoid(p[0] + p[1]*src.Normal()) },
		CDFOf:      func(x float64, p []float64) float64 { return phi((logit(x) - p[0]) / p[1]) },
		QuantileOf: func(u float64, p []float64) float64 { return sigmoid(p[0] + p[1]*mathext.NormalQuantile(u)) },
		MeanOf:     func(p []float64) float64 { return moment(1, p) },
		VarianceOf: func(p []float64) float64 { m := moment(1, p); return moment(2, p) - m*m },
	}
}

func init() {
	register(Family{Name: "logitnormal", Params: []string{"mu", "sigma"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return LogitNormal(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {-1, 0.5}}})
}
