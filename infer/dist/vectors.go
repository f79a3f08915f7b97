// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// Helpers for distributions of vectors and matrices, whose elements are stored flat in
// row-major order.

// column appends an axis of length 1 to n, whose batch axes then line up with those of
// vectors; a scalar needs none.
func column(n *ad.Node) *ad.Node {
	if len(n.Shape()) == 0 {
		return n
	}
	return ad.Reshape(n, append(n.Shape().Clone(), 1)...)
}

// each returns the sum over the last axis.
func each(x *ad.Node) *ad.Node { return ad.SumAxes(x, -1) }

// counting returns 0, 1, ... n-1.
func counting(n int) *ad.Node {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	return ad.Const(v)
}

// folded evaluates n immediately if from, the Node it is made of, is constant.
func folded(from *ad.Node, n *ad.Node) *ad.Node {
	if n.Err() != nil || !from.IsConst() {
		return n
	}
	v, err := ad.Numbers(n)
	if err != nil {
		return n
	}
	if len(n.Shape()) == 0 {
		return ad.Scalar(v[0][0])
	}
	return ad.Const(v[0], n.Shape()...)
}

// whitened returns L^-1 r for the vectors on the last axis of r. If there is one L for
// many vectors, it solves for all of them as columns at once.
func whitened(l, r *ad.Node) *ad.Node {
	if l.Err() != nil || r.Err() != nil || len(l.Shape()) != 2 || len(r.Shape()) < 2 {
		s := r.Shape().Clone()
		z := ad.SolveTriangular(l, ad.Reshape(r, append(s, 1)...), true, false)
		if z.Err() != nil {
			return z
		}
		return ad.Reshape(z, z.Shape()[:len(z.Shape())-1]...)
	}
	n := last(r)
	rows := ad.Reshape(r, r.Size()/max(1, n), n)
	return ad.Reshape(ad.T(ad.SolveTriangular(l, ad.T(rows), true, false)), r.Shape()...)
}

// sumLogDiag returns the sum of the logarithms of the diagonal elements of L.
func sumLogDiag(l *ad.Node) *ad.Node { return each(ad.Log(ad.Diag(l))) }

// triangleTimes sets dst to at + L z for the n x n lower triangle l.
func triangleTimes(dst, at, l, z []float64) {
	n := len(dst)
	for i := range n {
		dst[i] = at[i]
		for j := 0; j <= i; j++ {
			dst[i] += l[i*n+j] * z[j]
		}
	}
}

func normals(src Source, n int) []float64 {
	z := make([]float64, n)
	for i := range z {
		z[i] = src.Normal()
	}
	return z
}

// direction draws a point on the unit sphere.
func direction(src Source, n int) []float64 {
	z := normals(src, n)
	r := length(z)
	for i := range z {
		z[i] /= r
	}
	return z
}

// logMultiGamma returns the logarithm of the multivariate Gamma function of order p
// (https://dlmf.nist.gov/35.3.E4).
func logMultiGamma(p int, a *ad.Node) *ad.Node {
	sum := ad.Scalar(float64(p*(p-1)) / 4 * math.Log(math.Pi))
	for i := range p {
		sum = ad.Add(sum, ad.Lgamma(ad.Shift(a, -float64(i)/2)))
	}
	return sum
}

// axesOf returns the last n lengths of a shape; ok is false if it has fewer.
func axesOf(x *ad.Node, n int) (s tensor.Shape, ok bool) {
	k := len(x.Shape()) - n
	if x.Err() != nil || k < 0 {
		return nil, false
	}
	return x.Shape()[k:], true
}
