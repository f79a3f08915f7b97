// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// LKJCholesky is the distribution of the Cholesky factors L of k x k correlation matrices
// R = L L^T with a density proportional to det(R)^(eta-1). eta = 1 is uniform; larger
// values concentrate near the identity.
//
//	log p = sum_(i>1) (k - i + 2 eta - 2) log L_ii - log norm,
//	norm = prod_(j<k) pi^(j/2) Gamma(eta + (k-1-j)/2)/Gamma(eta + (k-1)/2)
//
// with rows counted from 1. Reference: Lewandowski, Kurowicka and Joe,
// doi 10.1016/j.jmva.2009.04.008.
func LKJCholesky(k int, eta any) Dist {
	p := Nodes(eta)
	return Dist{Name: "lkjcholesky", Params: p, Event: 2, Support: Interval(-1, 1),
		Center:      ad.Eye(max(1, k)),
		TransformOf: func() Transform { return CorrCholeskyTransform(k) },
		remake:      func(p []*ad.Node) Dist { return LKJCholesky(k, p[0]) },
		check: func() error {
			if k < 1 {
				return fmt.Errorf("dist: lkjcholesky: the order is %d: want at least 1", k)
			}
			return nil
		},
		InsideOf: func(x *ad.Node) *ad.Node {
			long := ad.Less(ad.Abs(ad.Shift(each(ad.Square(ad.Tril(x, 0))), -1)), ad.Scalar(1e-8))
			return ad.MinAxes(ad.Mul(long, ad.Greater(ad.Diag(x), zero)), -1)
		},
		LogProbOf: func(x *ad.Node) *ad.Node {
			if s, ok := axesOf(x, 2); !ok || s[0] != k || s[1] != k {
				return failed(x, fmt.Errorf("dist: lkjcholesky: the value has shape %v: want matrices of order %d", x.Shape(), k))
			}
			// Row 1 is always (1, 0, ...).
			w := make([]float64, k)
			for i := 1; i < k; i++ {
				w[i] = float64(k - i - 3)
			}
			twice := make([]float64, k)
			for i := 1; i < k; i++ {
				twice[i] = 2
			}
			power := ad.Add(ad.Mul(column(p[0]), ad.Const(twice)), ad.Const(w))
			return ad.Sub(each(ad.Mul(power, ad.Log(ad.Diag(x)))), lkjNorm(k, p[0]))
		},
		DrawOf: func(src Source, dst, p []float64) error {
			drawLKJ(src, dst, k, p[0])
			return nil
		},
	}
}

// lkjNorm takes differences of log Gamma, which are far smaller than its values for a large eta.
func lkjNorm(k int, eta *ad.Node) *ad.Node {
	sum := zero
	for j := 1; j < k; j++ {
		rise := logGammaRise(ad.Shift(eta, float64(k-1-j)/2), float64(j)/2)
		sum = ad.Add(sum, ad.Shift(ad.Neg(rise), float64(j)/2*math.Log(math.Pi)))
	}
	return sum
}

// logGammaRise returns log Gamma(a+d) - log Gamma(a), with the Stirling error s
//
//	s(a+d) - s(a) + (a+d-1/2) log(1 + d/a) + d log a - d
func logGammaRise(a *ad.Node, d float64) *ad.Node {
	s := ad.Sub(ad.StirlingError(ad.Shift(a, d)), ad.StirlingError(a))
	fall := ad.Mul(ad.Shift(a, d-0.5), ad.Log1p(ad.Div(ad.Scalar(d), a)))
	return ad.Add(ad.Add(s, fall), ad.Shift(ad.Scale(d, ad.Log(a)), -d))
}

// drawLKJ uses the onion method: each row is a random direction times the root of a Beta
// variable, and the diagonal completes it to length 1.
func drawLKJ(src Source, dst []float64, k int, eta float64) {
	clear(dst)
	dst[0] = 1
	for i := 1; i < k; i++ {
		s := logitBeta(src, float64(i)/2, eta+float64(k-1-i)/2)
		r := math.Sqrt(1 / (1 + math.Exp(-s)))
		for j, u := range direction(src, i) {
			dst[i*k+j] = r * u
		}
		dst[i*k+i] = math.Sqrt(1 / (1 + math.Exp(s)))
	}
}

func init() {
	register(Family{Name: "lkjcholesky", Params: []string{"eta"}, Want: []Support{Positive},
		Make:   func(p ...any) Dist { return LKJCholesky(3, p[0]) },
		At:     [][]float64{{2}, {0.7}},
		Shapes: [][]int{{}}, Value: []int{3, 3}})
}
