// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// MultivariateStudentTCholesky is Student's distribution of vectors with nu degrees of
// freedom, location mu and scale matrix L L^T.
//
//	log p = log Gamma((nu+n)/2) - log Gamma(nu/2) - n log(nu pi)/2 - sum log L_ii
//	        - (nu+n)/2 log(1 + |L^-1 (x-mu)|^2/nu)
//
// Shapes: nu (...), mu (..., n), L (..., n, n).
func MultivariateStudentTCholesky(nu, mu, l any) Dist {
	p := Nodes(nu, mu, l)
	return Dist{Name: "multivariatestudenttcholesky", Params: p, ParamEvent: []int{0, 1, 2}, Event: 1, everywhere: true,
		LogProbOf: func(x *ad.Node) *ad.Node {
			n := float64(last(p[2]))
			q := each(ad.Square(whitened(p[2], ad.Sub(x, p[1]))))
			away := ad.Greater(q, zero)
			z := ad.Sqrt(ad.Where(away, q, one))
			fall := ad.Where(away, ad.SquareFall(p[0], z), q) // nu log(1 + q/nu)
			fall = ad.Scale(0.5, ad.Add(fall, ad.Scale(n, ad.Log1p(ad.Div(q, p[0])))))
			return ad.Sub(ad.Sub(studentNormOf(p[0], n), sumLogDiag(p[2])), fall)
		},
		check: func() error { return checkFactor("multivariatestudenttcholesky", p[1], p[2]) },
		DrawOf: func(src Source, dst, p []float64) error {
			n := len(dst)
			z := normals(src, n)
			s := math.Exp(0.5 * (math.Log(p[0]/2) - logGamma(src, p[0]/2)))
			for i := range z {
				z[i] *= s
			}
			triangleTimes(dst, p[1:1+n], p[1+n:], z)
			return nil
		},
	}
}

// studentNormOf returns log Gamma((nu+n)/2) - log Gamma(nu/2) - n log(nu pi)/2. With h =
// nu/2, d = n/2 and the Stirling error s, this is
//
//	s(h+d) - s(h) + (h+d-1/2) log(1 + d/h) - d - d log(2 pi)
func studentNormOf(nu *ad.Node, n float64) *ad.Node {
	h, d := ad.Scale(0.5, nu), n/2
	s := ad.Sub(ad.StirlingError(ad.Shift(h, d)), ad.StirlingError(h))
	return ad.Shift(ad.Add(s, ad.Mul(ad.Shift(h, d-0.5), ad.Log1p(ad.Div(ad.Scalar(n), nu)))), -d-2*d*halfLogTwoPi)
}

func init() {
	register(Family{Name: "multivariatestudenttcholesky", Params: []string{"nu", "mu", "L"}, Want: []Support{Positive, Real, Real}, Arrays: []Array{AnyArray, AnyArray, Factor},
		Make:   func(p ...any) Dist { return MultivariateStudentTCholesky(p[0], p[1], p[2]) },
		At:     [][]float64{{4, 0, 0.5, 1.2, 0, 0.4, 0.8}},
		Shapes: [][]int{{}, {2}, {2, 2}}, Value: []int{2}})
}
