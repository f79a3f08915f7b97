// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// LowRankMultivariateNormal is the Gaussian distribution of vectors of n elements with mean mu and
// covariance W W^T + D, where D = diag(d). The elements of d are variances, not standard deviations, and must be above 0;
// those of W have the unit of x. It is the distribution of mu + W z + e, with k standard normal factors z and
// independent noise e of the variances d. The n x n covariance is never formed: a value costs of the order of n k^2 + k^3 operations.
//
//	M = 1 + W^T D^-1 W, r = x - mu
//	log p = -(r^T D^-1 r - |chol(M)^-1 W^T D^-1 r|^2 + log|M| + sum log d + n log(2 pi))/2
//
// The inverse is that of Woodbury's identity, and the determinant follows from the matrix determinant lemma.
// Cancellation in the first two terms loses digits where W W^T is much larger than D.
//
// Shapes: x (..., n), mu (..., n), W (..., n, k), d (..., n).
func LowRankMultivariateNormal(mu, w, d any) Dist {
	p := Nodes(mu, w, d)
	return Dist{Name: "lowrankmultivariatenormal", Params: p, ParamEvent: []int{1, 2, 1}, Event: 1, everywhere: true,
		LogProbOf: func(x *ad.Node) *ad.Node {
			k := last(p[1])
			scaled := ad.Div(p[1], column(p[2])) // D^-1 W
			m := ad.CholeskyOrNaN(ad.Add(ad.Eye(k), ad.MatMul(ad.T(scaled), p[1])))
			r := ad.Sub(x, p[0])
			s := r.Shape().Clone()
			proj := ad.MatMul(ad.Reshape(r, append(s[:max(0, len(s)-1)], 1, last(r))...), scaled)
			t := proj.Shape().Clone()
			if proj.Err() == nil {
				proj = ad.Reshape(proj, append(t[:len(t)-2], k)...)
			}
			q := ad.Sub(each(ad.Div(ad.Square(r), p[2])), each(ad.Square(whitened(m, proj))))
			det := ad.Add(ad.Scale(2, sumLogDiag(m)), each(ad.Log(p[2])))
			return ad.Shift(ad.Scale(-0.5, ad.Add(q, det)), -halfLogTwoPi*float64(last(p[2])))
		},
		DrawOf: func(src Source, dst, p []float64) error {
			n := len(dst)
			k := (len(p) - 2*n) / n
			z := normals(src, k)
			for i := range dst {
				dst[i] = p[i] + math.Sqrt(p[n+n*k+i])*src.Normal()
				for j := range k {
					dst[i] += p[n+i*k+j] * z[j]
				}
			}
			return nil
		},
	}
}

func init() {
	register(Family{Name: "lowrankmultivariatenormal", Params: []string{"mu", "W", "d"}, Want: []Support{Real, Real, Positive},
		Make:   func(p ...any) Dist { return LowRankMultivariateNormal(p[0], p[1], p[2]) },
		At:     [][]float64{{0, 0.5, 1, 1, 0.4, -0.2, 0.5, 0.7, 0.3}},
		Shapes: [][]int{{3}, {3, 1}, {3}}, Value: []int{3}})
}
