// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// MultivariateNormalCholesky is the Gaussian distribution of vectors with mean mu and
// covariance L L^T, where L is lower triangular with a positive diagonal.
//
//	log p = -|L^-1 (x-mu)|^2/2 - sum log L_ii - n log(2 pi)/2
//
// Shapes: mu (..., n), L (..., n, n).
func MultivariateNormalCholesky(mu, l any) Dist {
	p := Nodes(mu, l)
	return Dist{Name: "multivariatenormalcholesky", Params: p, ParamEvent: []int{1, 2}, Event: 1, everywhere: true,
		LogProbOf: func(x *ad.Node) *ad.Node {
			z := whitened(p[1], ad.Sub(x, p[0]))
			return ad.Shift(ad.Sub(ad.Scale(-0.5, each(ad.Square(z))), sumLogDiag(p[1])), -halfLogTwoPi*float64(last(p[1])))
		},
		check: func() error { return checkFactor("multivariatenormalcholesky", p[0], p[1]) },
		DrawOf: func(src Source, dst, p []float64) error {
			n := len(dst)
			triangleTimes(dst, p[:n], p[n:], normals(src, n))
			return nil
		},
	}
}

// MultivariateNormal is MultivariateNormalCholesky given the covariance matrix cov. A
// constant matrix must be symmetric and positive definite. Of other matrices only the lower triangle is read; see
// autodiff.Cholesky. Where they are not positive definite when the graph runs, the log density is -Inf.
func MultivariateNormal(mu, cov any) Dist {
	c := ad.Of(cov)
	d := MultivariateNormalCholesky(mu, factorOrZero(c))
	checkFactor := d.check
	d.check = func() error {
		if err := checkCovariance("multivariatenormal: covariance", c); err != nil {
			return err
		}
		return checkFactor()
	}
	return d
}

// factorOrZero returns the Cholesky factors of covariance matrices, and zeros, which are out of the range of a factor, with
// a gradient of 0 where there is none.
func factorOrZero(c *ad.Node) *ad.Node {
	if s, ok := axesOf(c, 2); c.IsConst() || !ok || s[0] != s[1] {
		return folded(c, ad.Cholesky(c))
	}
	possible := wide(Covariance.holds(c), 2)
	return ad.Where(possible, ad.Cholesky(ad.Where(possible, c, ad.Eye(last(c)))), zero)
}

// checkCovariance checks that constant matrices are symmetric and positive definite.
func checkCovariance(name string, c *ad.Node) error {
	s, ok := axesOf(c, 2)
	v, known := constant(c)
	if !ok || !known || s[0] != s[1] {
		return nil
	}
	for n := s[0]; len(v) > 0; v = v[n*n:] {
		if _, err := cholesky(v[:n*n], n); err != nil {
			return fmt.Errorf("dist: %s: %w", name, errtext.Without("dist: ", err))
		}
	}
	return nil
}

// checkFactor checks a constant L and whether it fits mu.
func checkFactor(name string, mu, l *ad.Node) error {
	s, ok := axesOf(l, 2)
	m, vector := axesOf(mu, 1)
	if ok && vector && (s[0] != s[1] || m[0] != s[1] && m[0] != 1) {
		return fmt.Errorf("dist: %s: the mean has shape %v and the factor %v: want n and n x n", name, mu.Shape(), l.Shape())
	}
	v, known := constant(l)
	if !ok || !known {
		return nil
	}
	n := s[1]
	for k, x := range v {
		switch i, j := k/n%n, k%n; {
		case i == j && !(x > 0):
			return fmt.Errorf("dist: %s: diagonal element %d of the factor is %g: want a number above 0; for a covariance matrix use the function without Cholesky in its name", name, i, x)
		case j > i && x != 0:
			return fmt.Errorf("dist: %s: element (%d, %d) of the factor is %g: want a lower triangle; for a covariance matrix use the function without Cholesky in its name", name, i, j, x)
		}
	}
	return nil
}

func init() {
	register(Family{Name: "multivariatenormalcholesky", Params: []string{"mu", "L"}, Want: []Support{Real, Real}, Arrays: []Array{AnyArray, Factor},
		Make:   func(p ...any) Dist { return MultivariateNormalCholesky(p[0], p[1]) },
		At:     [][]float64{{0, 0.5, 1, 1.2, 0, 0, 0.4, 0.8, 0, -0.3, 0.5, 0.6}},
		Shapes: [][]int{{3}, {3, 3}}, Value: []int{3}})
}
