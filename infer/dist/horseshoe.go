// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Horseshoe is the joint distribution of coefficients beta and their own scales lambda,
// the two rows of a value of shape (2, n). The scales are HalfCauchy(1) in units of tau.
//
//	log p = sum log Normal(beta_i | 0, lambda_i tau) + log HalfCauchy(lambda_i | 1)
//
// Reference: Carvalho, Polson and Scott, doi 10.1093/biomet/asq017.
func Horseshoe(tau any) Dist {
	p := Nodes(tau)
	local := HalfCauchy(1)
	return Dist{Name: "horseshoe", Params: p, Event: 2, Center: ad.Const([]float64{0, 1}, 2, 1),
		InsideOf: func(x *ad.Node) *ad.Node { return ad.MinAxes(ad.Greater(ad.Index(x, -2, 1), zero), -1) },
		LogProbOf: func(x *ad.Node) *ad.Node {
			beta, lambda := ad.Index(x, -2, 0), ad.Index(x, -2, 1)
			sd := ad.Mul(lambda, column(p[0]))
			return each(ad.Add(normalLog(ad.Div(beta, sd), sd), local.logProbInside(lambda)))
		},
		TransformOf: horseshoeTransform,
		DrawOf: func(src Source, dst, p []float64) error {
			n := len(dst) / 2
			for i := range n {
				dst[n+i] = local.Rand(src, []float64{1})
				dst[i] = p[0] * dst[n+i] * src.Normal()
			}
			return nil
		},
	}
}

// horseshoeTransform keeps the first half of the last axis and takes exp of the second.
func horseshoeTransform() Transform {
	return Transform{Name: "horseshoe", Event: 2, oblong: true, Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) {
			n := last(x) / 2
			logs := ad.Slice(x, -1, n, 2*n)
			return ad.Concat(-1, ad.Slice(x, -1, 0, n), ad.Exp(logs)), ad.Sum(logs)
		},
		Inverse: func(y []float64, _ ...float64) ([]float64, error) {
			n := len(y) / 2
			logs, err := strictly(y[n:], 0, math.Inf(1), math.Log)
			return append(append([]float64{}, y[:n]...), logs...), err
		},
		inside: func(y []float64, nudge float64, _ ...float64) { within(y[len(y)/2:], 0, math.Inf(1), nudge) },
	}
}

func init() {
	register(Family{Name: "horseshoe", Params: []string{"tau"}, Want: []Support{Positive},
		Make:   func(p ...any) Dist { return Horseshoe(p[0]) },
		At:     [][]float64{{0.2}},
		Shapes: [][]int{{}}, Value: []int{2, 2}})
	pair := []int{2}
	register(Family{Name: "mixturenormal", Params: []string{"logw", "mu", "sigma"}, Want: []Support{logarithm, Real, Positive},
		Make:   func(p ...any) Dist { return MixtureSameFamilyLogits(p[0], Normal(p[1], p[2])) },
		At:     [][]float64{{-0.5, -1.2, 0, 2, 1, 0.5}},
		Shapes: [][]int{pair, pair, pair}})
}
