// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package linalg

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// jacobiMost is the largest number of columns for which Jacobi rotations are used; beyond
// it, bidiagonalisation is faster.
const jacobiMost = 48

// SVD factors the m x n matrix a, m >= n, into U diag(s) V^T. It replaces a by U diag(s)
// and sets v to V, n x n by columns.
func SVD(a []float64, m, n int, s, v []float64) {
	if n <= jacobiMost || !bidiagonalSVD(a, m, n, s, v) {
		jacobiSVD(a, m, n, s, v)
	}
}

// bidiagonalSVD is SVD by gonum. It returns false where that does not converge.
func bidiagonalSVD(a []float64, m, n int, s, v []float64) bool {
	if !AllFinite(a) {
		return false
	}
	d := mat.NewDense(m, n, nil)
	for j := range n {
		d.SetCol(j, a[j*m:(j+1)*m])
	}
	var f mat.SVD
	if !f.Factorize(d, mat.SVDThin) {
		return false
	}
	var u, w mat.Dense
	f.UTo(&u)
	f.VTo(&w)
	copy(s, f.Values(nil))
	for j := range n {
		for i := range m {
			a[j*m+i] = u.At(i, j) * s[j]
		}
		for i := range n {
			v[j*n+i] = w.At(i, j)
		}
	}
	return true
}

// jacobiSVD is SVD by one-sided Jacobi rotations, which are accurate to the last digits
// for small singular values, too.
func jacobiSVD(a []float64, m, n int, s, v []float64) {
	clear(v)
	for i := range n {
		v[i*n+i] = 1
	}
	for range 40 {
		rotated := false
		for p := range n {
			for q := p + 1; q < n; q++ {
				x, y := a[p*m:(p+1)*m], a[q*m:(q+1)*m]
				alpha, beta, gamma := Products(x, y)
				if math.Abs(gamma) <= 0x1p-51*math.Sqrt(alpha*beta) || gamma == 0 {
					continue
				}
				rotated = true
				zeta := (beta - alpha) / (2 * gamma)
				t := math.Copysign(1/(math.Abs(zeta)+Hypot1(zeta)), zeta)
				c := 1 / math.Sqrt(1+t*t)
				rotate(x, y, c, c*t)
				rotate(v[p*n:(p+1)*n], v[q*n:(q+1)*n], c, c*t)
			}
		}
		if !rotated {
			break
		}
	}
	for k := range n {
		s[k] = Norm(a[k*m : (k+1)*m])
	}
}

// Products returns x.x, y.y and x.y.
func Products(x, y []float64) (xx, yy, xy float64) {
	y = y[:len(x)]
	for i, a := range x {
		b := y[i]
		xx += a * a
		yy += b * b
		xy += a * b
	}
	return xx, yy, xy
}

// Hypot1 returns the square root of 1 + z^2.
func Hypot1(z float64) float64 {
	if math.Abs(z) > 1e150 {
		return math.Abs(z)
	}
	return math.Sqrt(1 + z*z)
}

// rotate replaces x and y by c x - s y and s x + c y.
func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for i, xi := range x {
		yi := y[i]
		x[i] = c*xi - s*yi
		y[i] = s*xi + c*yi
	}
}
