// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package gompertz adds a distribution to models: Gompertz's law of mortality.
//
//	m.Observe("age", gompertz.Gompertz(b, eta), ages)
//
// Its command, in cmd, is euryale with this distribution for priors and likelihoods:
//
//	gompertz sample expr --problem ages.json    # with "likelihood": "gompertz(mu, eta)"
package gompertz

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Gompertz is the distribution of lifetimes whose hazard grows as b eta exp(b x).
//
//	log p = log b + log eta + eta + b x - eta exp(b x)
//
// Reference: Gompertz, doi:10.1098/rstl.1825.0026.
func Gompertz(b, eta any) dist.Dist {
	p := dist.Nodes(b, eta)
	// The hazard summed up to x: eta (exp(b x) - 1).
	sum := func(x *ad.Node) *ad.Node { return ad.Mul(p[1], ad.Expm1(ad.Mul(p[0], x))) }
	return dist.Dist{Name: "gompertz", Params: p, Support: dist.Positive,
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Sub(ad.AddN(ad.Log(p[0]), ad.Log(p[1]), ad.Mul(p[0], x)), sum(x))
		},
		LogCDFOf:   func(x *ad.Node) *ad.Node { return ad.Log(ad.Neg(ad.Expm1(ad.Neg(sum(x))))) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return ad.Neg(sum(x)) },
		RandOf:     func(src dist.Source, p []float64) float64 { return quantile(src.Float64(), p) },
		CDFOf:      func(x float64, p []float64) float64 { return -math.Expm1(-p[1] * math.Expm1(p[0]*max(x, 0))) },
		QuantileOf: quantile,
	}
}

func quantile(u float64, p []float64) float64 { return math.Log1p(-math.Log1p(-u)/p[1]) / p[0] }

// Family makes the distribution known by its name, also on the command line: --prior "age=gompertz(0.1, 0.5)".
var Family = dist.Family{Name: "gompertz", Params: []string{"b", "eta"}, Want: []dist.Support{dist.Positive, dist.Positive},
	Make: func(p ...any) dist.Dist { return Gompertz(p[0], p[1]) },
	At:   [][]float64{{1, 1}, {0.2, 0.05}}}

func init() { dist.Register(Family) }
