// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Dirichlet is the distribution of vectors on the simplex, which are positive and sum to
// 1.
//
//	log p = sum (alpha_k - 1) log x_k + log Gamma(sum alpha) - sum log Gamma(alpha_k)
//
// The density is computed from the deviances of alpha_k from x_k sum alpha. Shape: alpha
// (..., K).
func Dirichlet(alpha any) Dist {
	p := Nodes(alpha)
	k := max(1, last(p[0]))
	return Dist{Name: "dirichlet", Params: p, ParamEvent: []int{1}, Event: 1, Support: Unit,
		Center:      ad.Full(1/float64(k), k),
		TransformOf: SimplexILRTransform,
		InsideOf: func(x *ad.Node) *ad.Node {
			whole := ad.Less(ad.Abs(ad.Shift(each(x), -1)), ad.Scalar(1e-8))
			// An element may be 0 where alpha is 1, so that the density is finite.
			possible := ad.Maximum(ad.Greater(x, zero), ad.Mul(ad.Equal(x, zero), ad.Equal(p[0], one)))
			return ad.Mul(ad.MinAxes(possible, -1), whole)
		},
		LogProbOf: func(x *ad.Node) *ad.Node {
			a := p[0]
			total := each(a)
			// At x = 0 with alpha = 1, the deviance and log x of the other formula are infinite, and their sum is
			// -log(total) - 1 + total x.
			end := ad.LessEqual(x, zero)
			safe := ad.Where(end, one, x)
			// The gradient of the deviances with respect to x is a difference of numbers as large as sum(alpha), so it is
			// that of the plain formula. The deviances contain sum(x) sum(alpha) - sum(alpha), which is 0 on the simplex.
			y := ad.StopGradient(safe)
			extra := ad.Mul(total, ad.Shift(each(ad.StopGradient(x)), -1))
			slope := each(ad.Mul(ad.Shift(a, -1), ad.Sub(ad.Log(safe), ad.Log(y))))
			rest := ad.Mul(column(total), ad.Sub(ad.StopGradient(x), one))
			fall := ad.PoissonDeviance(a, ad.Mul(column(total), y))
			norm := func(a *ad.Node) *ad.Node {
				return ad.Shift(ad.Sub(ad.Scale(0.5, ad.Log(a)), ad.StirlingError(a)), -halfLogTwoPi)
			}
			sum := each(ad.Sub(norm(a), ad.Add(fall, ad.Where(end, rest, ad.Log(y)))))
			return ad.Add(ad.Add(sum, slope), ad.Sub(extra, norm(total)))
		},
		DrawOf: func(src Source, dst, p []float64) error {
			drawDirichlet(src, dst, p)
			return nil
		},
	}
}

// drawDirichlet divides Gamma variables by their sum, working with logarithms.
func drawDirichlet(src Source, dst, alpha []float64) {
	top := math.Inf(-1)
	for i, a := range alpha {
		dst[i] = logGamma(src, a)
		top = max(top, dst[i])
	}
	sum := 0.0
	for i := range dst {
		dst[i] = math.Exp(dst[i] - top)
		sum += dst[i]
	}
	for i := range dst {
		dst[i] /= sum
	}
}

func init() {
	register(Family{Name: "dirichlet", Params: []string{"alpha"}, Want: []Support{Positive},
		Make:   func(p ...any) Dist { return Dirichlet(p[0]) },
		At:     [][]float64{{1, 2, 0.5}},
		Shapes: [][]int{{3}}, Value: []int{3}})
}
