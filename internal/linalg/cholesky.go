// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package linalg

import "math"

// Cholesky replaces the lower triangle of a symmetric positive definite matrix a of n rows
// by its Cholesky factor and leaves the rest of a as it is. Where a pivot is not a positive
// number it returns the row and the pivot; otherwise the row is -1.
func Cholesky(a []float64, n int) (row int, pivot float64) {
	return CholeskyColumns(a, n, 0, n)
}

// CholeskyColumns computes columns from, ..., to-1 of a Cholesky factor in place. The
// products of the columns before them must have been subtracted already. It returns what
// Cholesky returns.
func CholeskyColumns(a []float64, n, from, to int) (badRow int, pivot float64) {
	for i := from; i < n; i++ {
		row := a[i*n+from : i*n+min(i+1, to)]
		for j := range row {
			other := a[(from+j)*n+from : (from+j)*n+from+j+1]
			v := row[j] - Dot(row[:j], other)
			if from+j < i {
				row[j] = v / other[j]
				continue
			}
			if !(v > 0 && v <= math.MaxFloat64) {
				return i, v
			}
			row[j] = math.Sqrt(v)
		}
	}
	return -1, 0
}

// SolveCholesky replaces x by the solution of L L^T z = x.
func SolveCholesky(l, x []float64) {
	n := len(x)
	for i := range n {
		x[i] = (x[i] - Dot(l[i*n:i*n+i], x[:i])) / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		x[i] /= l[i*n+i]
		for j := range i {
			x[j] -= l[i*n+j] * x[i]
		}
	}
}
