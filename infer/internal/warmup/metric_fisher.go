// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

const (
	fisherGamma  = 1e-5 // least weight of the identity against the sums over draws
	fisherCutoff = 2.0  // directions with lambda within [1/2, 2] stay as they are
)

// fisherFit is the linear map that brings draws x and their gradients g closest
// to a standard normal, in the Fisher divergence of the sample.
type fisherFit struct {
	scale, centre []float64
	vectors       [][]float64
	// lambda are the eigenvalues that are kept.
	lambda []float64
	// all are the eigenvalues before the cutoff, for tests.
	all []float64
}

// fitScales matches the variances of draws and gradients parameter by
// parameter: s = (var x / var g)^(1/4), centre = mean x + s^2 mean g. It returns
// false when a variance is zero or not finite.
func fitScales(x, g [][]float64) (fisherFit, bool) {
	mx, vx := columnMoments(x)
	mg, vg := columnMoments(g)
	f := fisherFit{scale: make([]float64, len(mx)), centre: make([]float64, len(mx))}
	for i := range mx {
		s2 := math.Sqrt(vx[i]) / math.Sqrt(vg[i])
		f.scale[i] = math.Sqrt(s2)
		f.centre[i] = mx[i] + s2*mg[i]
		if !(f.scale[i] > 0) || math.IsInf(f.scale[i], 0) {
			return f, false
		}
	}
	return f, true
}

// Scales returns the scales of the diagonal metric that draws and their gradients ask for, false where a variance is zero or not finite.
func Scales(draws, gradients [][]float64) ([]float64, bool) {
	f, ok := fitScales(draws, gradients)
	return f.scale, ok
}

// fitLowRank adds to the scales the few directions in which the scaled
// posterior is still far from a unit normal.
//
//	Y = scaled draws, A = scaled gradients, both centred; Q = basis of their span
//	Cy = Q^T Y^T Y Q/gamma + 1,  Ca likewise = L L^T
//	S = geometric mean of Cy and Ca^-1 = L^-T V s V^T L^-1,  V s W = svd(L^T [Q^T Y^T/sqrt gamma, 1])
//
// Eigenpairs of S with lambda beyond the cutoff are kept.
//
// Reference: Seyboldt, Carlson and Carpenter, arXiv:2603.18845.
func fitLowRank(x, g [][]float64, gamma, cutoff float64) (fisherFit, bool) {
	f, ok := fitScales(x, g)
	if !ok || len(x) < 2 {
		return f, ok
	}
	y, a := whitened(x, f.scale, true), whitened(g, f.scale, false)
	q := spanBasis(y, a)
	if q != nil {
		y, a = Times(y, q), Times(a, q)
	}
	t, ok := geometricMean(y, a, gamma)
	if !ok {
		return f, false
	}
	var svd mat.SVD
	if !svd.Factorize(t, mat.SVDThinU) {
		return f, false
	}
	var u mat.Dense
	svd.UTo(&u)
	if q != nil {
		u = *Times(q, &u)
	}
	for k, s := range svd.Values(nil) {
		lambda := s * s
		f.all = append(f.all, lambda)
		if lambda > cutoff || lambda < 1/cutoff {
			f.lambda = append(f.lambda, lambda)
			f.vectors = append(f.vectors, mat.Col(nil, k, &u))
		}
		if !(lambda > 0) || math.IsInf(lambda, 0) {
			return f, false
		}
	}
	return f, true
}

// geometricMean returns T with T T^T = S, see fitLowRank. Both factors come from
// QR factorisations of the samples over the identity, which never squares them:
// with R the factor of Y, the singular values and left vectors of L^T R^T are
// those of the formula.
func geometricMean(y, a *mat.Dense, gamma float64) (*mat.Dense, bool) {
	root := 1 / math.Sqrt(gamma)
	upper, r := triangle(overIdentity(a, root)), triangle(overIdentity(y, root))
	b := mat.DenseCopyOf(r.T())
	blas64.Trmm(blas.Left, blas.NoTrans, 1, upper.RawTriangular(), b.RawMatrix())
	var svd mat.SVD
	if !svd.Factorize(b, mat.SVDThinU) {
		return nil, false
	}
	var v, t mat.Dense
	svd.UTo(&v)
	n, _ := v.Dims()
	for k, s := range svd.Values(nil) {
		for i := range n {
			v.Set(i, k, v.At(i, k)*math.Sqrt(s))
		}
	}
	if t.Solve(upper, &v); t.IsEmpty() {
		return nil, false
	}
	return &t, true
}

// triangle returns the upper triangular factor of the QR factorisation.
func triangle(m *mat.Dense) *mat.TriDense {
	var qr mat.QR
	qr.Factorize(m)
	var r mat.Dense
	qr.RTo(&r)
	_, n := m.Dims()
	upper := mat.NewTriDense(n, mat.Upper, nil)
	for i := range n {
		for j := i; j < n; j++ {
			upper.SetTri(i, j, r.At(i, j))
		}
	}
	return upper
}

// overIdentity stacks f a on the identity.
func overIdentity(a *mat.Dense, f float64) *mat.Dense {
	n, r := a.Dims()
	out := mat.NewDense(n+r, r, nil)
	out.Slice(0, n, 0, r).(*mat.Dense).Scale(f, a)
	for i := range r {
		out.Set(n+i, i, 1)
	}
	return out
}

// spanBasis returns an orthonormal basis of the rows of y and a, or nil when
// they are so many that the whole space does as well.
func spanBasis(y, a *mat.Dense) *mat.Dense {
	n, d := y.Dims()
	if d <= 2*n {
		return nil
	}
	both := mat.NewDense(d, 2*n, nil)
	both.Slice(0, d, 0, n).(*mat.Dense).Copy(y.T())
	both.Slice(0, d, n, 2*n).(*mat.Dense).Copy(a.T())
	var qr mat.QR
	qr.Factorize(both)
	thin := mat.NewDense(d, 2*n, nil)
	for i := range 2 * n {
		thin.Set(i, i, 1)
	}
	var q mat.Dense
	qr.QTo(&q)
	return Times(&q, thin)
}

// whitened returns the centred rows divided (draws) or multiplied (gradients)
// by the scales.
func whitened(rows [][]float64, scale []float64, divide bool) *mat.Dense {
	mean, _ := columnMoments(rows)
	out := mat.NewDense(len(rows), len(scale), nil)
	for i, row := range rows {
		dst := out.RawRowView(i)
		for j, v := range row {
			if divide {
				dst[j] = (v - mean[j]) / scale[j]
			} else {
				dst[j] = (v - mean[j]) * scale[j]
			}
		}
	}
	return out
}

// columnMoments returns mean and population variance of every column; the
// variance of a constant is exactly 0.
func columnMoments(rows [][]float64) (mean, variance []float64) {
	if len(rows) == 0 {
		return nil, nil
	}
	mean, variance = make([]float64, len(rows[0])), make([]float64, len(rows[0]))
	n := float64(len(rows))
	for j, first := range rows[0] {
		shift := 0.0
		for _, row := range rows {
			shift += row[j] - first
		}
		shift /= n
		for _, row := range rows {
			d := row[j] - first - shift
			variance[j] += d * d / n
		}
		mean[j] = first + shift
	}
	return mean, variance
}

// Times returns the product of the matrices.
func Times(a, b *mat.Dense) *mat.Dense {
	var c mat.Dense
	c.Mul(a, b)
	return &c
}
