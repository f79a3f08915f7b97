// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/mat"
)

// Wishart is the distribution of the sum of the outer products of nu normal vectors with
// covariance V, extended to any nu > p-1. Its mean is nu V. A value is symmetric and
// positive definite.
//
//	log p = (nu-p-1)/2 log|X| - tr(V^-1 X)/2 - nu p/2 log 2 - nu/2 log|V| - log Gamma_p(nu/2)
//
// Shapes: nu (...), V (..., p, p). The determinants are computed from the lower
// triangles.
func Wishart(nu, v any) Dist {
	q := Nodes(nu, v)
	d := wishartOf("wishart", q)
	d.LogProbOf = func(x *ad.Node) *ad.Node {
		p := float64(last(q[1]))
		powers := ad.Sub(ad.Mul(ad.Shift(q[0], -p-1), logDetHalf(x)), ad.Mul(q[0], logDetHalf(q[1])))
		return ad.Sub(ad.Sub(powers, ad.Scale(0.5, traceSolved(q[1], x))), wishartNorm(q[0], last(q[1])))
	}
	d.DrawOf = func(src Source, dst, p []float64) error {
		l, err := cholesky(p[1:], 0)
		if err != nil {
			return err
		}
		drawWishart(src, dst, p[0], l)
		return nil
	}
	return d
}

// InverseWishart is the distribution of the inverse of a Wishart(nu, Psi^-1) matrix: a
// covariance matrix with mean Psi/(nu-p-1).
//
//	log p = nu/2 log|Psi| - (nu+p+1)/2 log|X| - tr(Psi X^-1)/2 - nu p/2 log 2 - log Gamma_p(nu/2)
func InverseWishart(nu, psi any) Dist {
	q := Nodes(nu, psi)
	d := wishartOf("inversewishart", q)
	d.LogProbOf = func(x *ad.Node) *ad.Node {
		p := float64(last(q[1]))
		powers := ad.Sub(ad.Mul(q[0], logDetHalf(q[1])), ad.Mul(ad.Shift(q[0], p+1), logDetHalf(x)))
		return ad.Sub(ad.Sub(powers, ad.Scale(0.5, traceSolved(x, q[1]))), wishartNorm(q[0], last(q[1])))
	}
	d.DrawOf = func(src Source, dst, p []float64) error {
		n := sides(len(dst))
		var inverse mat.SymDense
		if err := invert(&inverse, p[1:], n); err != nil {
			return err
		}
		l, err := cholesky(inverse.RawSymmetric().Data, n) // from the upper triangle
		if err != nil {
			return err
		}
		w := make([]float64, len(dst))
		drawWishart(src, w, p[0], l)
		if err := invert(&inverse, w, n); err != nil {
			return err
		}
		for i := range n {
			for j := range n {
				dst[i*n+j] = inverse.At(i, j)
			}
		}
		return nil
	}
	return d
}

func wishartOf(name string, q []*ad.Node) Dist {
	n := max(1, last(q[1]))
	return Dist{Name: name, Params: q, ParamEvent: []int{0, 2}, Event: 2,
		Center:      ad.Eye(n),
		TransformOf: func() Transform { return CovMatrixTransform(n) },
		InsideOf: func(x *ad.Node) *ad.Node {
			d := ad.Diag(ad.CholeskyOrNaN(x))
			return ad.MinAxes(ad.Equal(d, d), -1)
		},
		check: func() error {
			s, ok := axesOf(q[1], 2)
			if ok && s[0] != s[1] {
				return fmt.Errorf("dist: %s: the scale has shape %v: want square matrices", name, q[1].Shape())
			}
			if err := checkCovariance(name+": scale", q[1]); err != nil {
				return err
			}
			if v, known := constant(q[0]); known {
				for _, nu := range v {
					if !(nu > float64(n-1)) {
						return fmt.Errorf("dist: %s has nu = %g: want a number above %d for matrices of order %d", name, nu, n-1, n)
					}
				}
			}
			return nil
		},
	}
}

// logDetHalf returns log|X|/2 by Cholesky factorisation, or NaN if there is no factor.
func logDetHalf(x *ad.Node) *ad.Node { return folded(x, sumLogDiag(ad.CholeskyOrNaN(x))) }

// traceSolved returns tr(V^-1 X), using the inverse of the symmetric part of V.
func traceSolved(v, x *ad.Node) *ad.Node {
	half := ad.CholeskyOrNaN(ad.Scale(0.5, ad.Add(v, ad.T(v))))
	if v.IsConst() {
		inverse := folded(v, ad.CholeskySolve(half, ad.Eye(last(v))))
		return ad.SumAxes(ad.Mul(inverse, ad.T(x)), -1, -2)
	}
	return each(ad.Diag(ad.CholeskySolve(half, x)))
}

// wishartNorm returns nu p/2 log 2 + log Gamma_p(nu/2).
func wishartNorm(nu *ad.Node, p int) *ad.Node {
	return ad.Add(ad.Scale(float64(p)/2*math.Ln2, nu), logMultiGamma(p, ad.Scale(0.5, nu)))
}

// drawWishart uses Bartlett's decomposition: L A A^T L^T with chi variables on the
// diagonal of A and normal ones below.
func drawWishart(src Source, dst []float64, nu float64, l []float64) {
	n := sides(len(dst))
	b := make([]float64, n*n) // L A
	a := make([]float64, n)
	for j := range n { // column j of A
		a[j] = math.Exp(0.5 * (math.Ln2 + logGamma(src, (nu-float64(j))/2)))
		for i := j + 1; i < n; i++ {
			a[i] = src.Normal()
		}
		for i := j; i < n; i++ {
			for k := j; k <= i; k++ {
				b[i*n+j] += l[i*n+k] * a[k]
			}
		}
	}
	for i := range n {
		for j := range n {
			dst[i*n+j] = 0
			for k := range min(i, j) + 1 {
				dst[i*n+j] += b[i*n+k] * b[j*n+k]
			}
		}
	}
}

// invert sets dst to the inverse of a symmetric positive definite matrix.
func invert(dst *mat.SymDense, m []float64, n int) error {
	var c mat.Cholesky
	if !c.Factorize(mat.NewSymDense(n, append([]float64{}, m...))) {
		return fmt.Errorf("the %d x %d matrix is not positive definite: want a positive definite scale", n, n)
	}
	if err := c.InverseTo(dst); err != nil {
		return fmt.Errorf("the %d x %d matrix is nearly singular, so use a larger diagonal: %w", n, n, err)
	}
	for i := range n { // fill both triangles
		for j := range i {
			dst.RawSymmetric().Data[i*n+j] = dst.At(i, j)
		}
	}
	return nil
}

// enoughFreedom is 1 where nu is above p-1 for matrices of order p.
func enoughFreedom(q []*ad.Node) *ad.Node {
	return ad.Greater(q[0], ad.Scalar(float64(last(q[1])-1)))
}

// wishartSafe returns a possible nu for the order of the scale.
func wishartSafe(i int, q []*ad.Node) float64 {
	if i == 0 {
		return float64(last(q[1]) + 1)
	}
	return 0
}

func init() {
	register(Family{Name: "wishart", Params: []string{"nu", "V"}, Want: []Support{Positive, Real}, Arrays: []Array{AnyArray, Covariance},
		Holds: enoughFreedom, held: []int{0}, holdsWant: "a number above p-1 for matrices of order p", safe: wishartSafe,
		Make:   func(p ...any) Dist { return Wishart(p[0], p[1]) },
		At:     [][]float64{{5, 1, 0.2, 0.2, 0.7}},
		Shapes: [][]int{{}, {2, 2}}, Value: []int{2, 2}})
	register(Family{Name: "inversewishart", Params: []string{"nu", "Psi"}, Want: []Support{Positive, Real}, Arrays: []Array{AnyArray, Covariance},
		Holds: enoughFreedom, held: []int{0}, holdsWant: "a number above p-1 for matrices of order p", safe: wishartSafe,
		Make:   func(p ...any) Dist { return InverseWishart(p[0], p[1]) },
		At:     [][]float64{{7, 1, 0.2, 0.2, 0.7}},
		Shapes: [][]int{{}, {2, 2}}, Value: []int{2, 2}})
}
