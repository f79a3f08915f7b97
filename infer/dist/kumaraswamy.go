// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Kumaraswamy is the distribution on (0, 1) with shapes a and b. It is close to Beta(a,
// b), but its distribution function has the closed form 1 - (1 - x^a)^b.
//
//	log p = log a + log b + (a-1) log x + (b-1) log(1 - x^a)
//
// Reference: Kumaraswamy, doi 10.1016/0022-1694(80)90036-0.
func Kumaraswamy(a, b any) Dist {
	p := Nodes(a, b)
	// (b + shift) log(1 - x^a), also where x^a alone is below the range of float64
	rest := func(x *ad.Node, shift float64) *ad.Node {
		u := ad.Mul(p[0], ad.Log(x))
		b := ad.Shift(p[1], shift)
		far := ad.Mul(far(u), ad.Greater(b, zero))
		near := ad.Mul(b, ad.Log1mExp(ad.Where(far, minusOne, u)))
		return ad.Where(far, ad.Neg(ad.Exp(ad.Add(ad.Log(ad.Where(far, b, one)), ad.Where(far, u, minusOne)))), near)
	}
	return Dist{Name: "kumaraswamy", Params: p, Support: closedUnit,
		endsOf: unitEnds(p[0], p[1], func() (first, second *ad.Node) { return ad.Log(p[1]), ad.Log(p[0]) }),
		LogProbOf: func(x *ad.Node) *ad.Node {
			powers := ad.Add(ad.Mul(ad.Shift(p[0], -1), ad.Log(x)), rest(x, -1))
			return ad.Add(powers, ad.Add(ad.Log(p[0]), ad.Log(p[1])))
		},
		LogCDFOf: func(x *ad.Node) *ad.Node { // t = -b log(1 - x^a)
			u := ad.Mul(p[0], ad.Log(x))
			logT := ad.Add(ad.Log(p[1]), ad.Where(far(u), u, ad.Log(ad.Neg(ad.Log1mExp(ad.Where(far(u), minusOne, u))))))
			return logDropped(ad.Neg(rest(x, 0)), logT)
		},
		LogCCDFOf: func(x *ad.Node) *ad.Node { return rest(x, 0) },
		RandOf:    func(src Source, p []float64) float64 { return kumaraswamyQuantile(open(src), p) },
		CDFOf: func(x float64, p []float64) float64 {
			if u := p[0] * math.Log(x); u < deep {
				return -math.Expm1(-math.Exp(math.Log(p[1]) + u))
			}
			return -math.Expm1(p[1] * log1mExp.Eval(p[0]*math.Log(x)))
		},
		QuantileOf: kumaraswamyQuantile,
		MeanOf:     func(p []float64) float64 { return kumaraswamyMoment(1, p) },
		VarianceOf: func(p []float64) float64 {
			m := kumaraswamyMoment(1, p)
			return kumaraswamyMoment(2, p) - m*m
		},
	}
}

func kumaraswamyQuantile(u float64, p []float64) float64 {
	return math.Exp(math.Log(-math.Expm1(math.Log1p(-u)/p[1])) / p[0])
}

// kumaraswamyMoment returns E[x^n] = b B(1 + n/a, b).
func kumaraswamyMoment(n float64, p []float64) float64 {
	x, _ := math.Lgamma(1 + n/p[0])
	y, _ := math.Lgamma(p[1])
	z, _ := math.Lgamma(1 + n/p[0] + p[1])
	return p[1] * math.Exp(x+y-z)
}

func init() {
	register(Family{Name: "kumaraswamy", Params: []string{"a", "b"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return Kumaraswamy(p[0], p[1]) },
		At:   [][]float64{{2, 3}, {0.7, 1.4}}})
}
