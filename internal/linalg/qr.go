// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package linalg

import "math"

// PivotedQR is a factorisation A P = Q R by Householder reflections, in which the longest
// remaining column comes first.
type PivotedQR struct {
	// M and N are the rows and the columns, M >= N. A smaller N takes the first columns.
	M, N int
	// A holds the matrix by columns. Factor leaves R above the diagonal, and the vectors of
	// the reflections from the diagonal on.
	A []float64
	// Diag is the diagonal of R.
	Diag []float64
	// beta holds the factors of the reflections I - beta v v^T.
	beta []float64
	// Perm is the order of columns: column k of R is column Perm[k] of the matrix.
	Perm []int
	// Rank is the numerical rank.
	Rank int
	// left holds the norms of what remains of the columns, and full what they were when
	// last computed in full.
	left, full []float64
}

// NewPivotedQR returns room for the factorisation of a matrix of m rows and n columns,
// m >= n, which the caller puts into A.
func NewPivotedQR(m, n int, mem *Arena) *PivotedQR {
	return &PivotedQR{M: m, N: n, A: mem.Floats(m * n), Diag: mem.Floats(n), beta: mem.Floats(n), left: mem.Floats(n), full: mem.Floats(n), Perm: make([]int, n)}
}

// Factor factors A in place.
func (q *PivotedQR) Factor() {
	m, n := q.M, q.N
	for j := range n {
		q.Perm[j] = j
		q.left[j] = Norm(q.A[j*m : (j+1)*m])
		q.full[j] = q.left[j]
	}
	for k := range n {
		q.bringLongest(k)
		col := q.A[k*m : (k+1)*m]
		q.Diag[k], q.beta[k] = householder(col[k:])
		for j := k + 1; j < n; j++ {
			c := q.A[j*m : (j+1)*m]
			if q.beta[k] != 0 {
				reflect(col[k:], c[k:], q.beta[k])
			}
			q.shorten(j, c[k], c[k+1:])
		}
	}
	q.Rank = 0
	for q.Rank < n && math.Abs(q.Diag[q.Rank]) > 0x1p-52*float64(max(m, n))*math.Abs(q.Diag[0]) {
		q.Rank++
	}
}

// bringLongest exchanges column k with the longest of the remaining ones.
func (q *PivotedQR) bringLongest(k int) {
	best := k
	for j := k + 1; j < q.N; j++ {
		if q.left[j] > q.left[best] {
			best = j
		}
	}
	if best == k {
		return
	}
	x, y := q.A[k*q.M:(k+1)*q.M], q.A[best*q.M:(best+1)*q.M]
	for i, v := range x {
		x[i], y[i] = y[i], v
	}
	q.Perm[k], q.Perm[best] = q.Perm[best], q.Perm[k]
	q.left[best], q.full[best] = q.left[k], q.full[k]
}

// shorten updates the length of column j, whose first element becomes part of R;
// where too many digits cancel it is computed anew.
func (q *PivotedQR) shorten(j int, first float64, rest []float64) {
	if q.left[j] == 0 {
		return
	}
	t := first / q.left[j]
	q.left[j] *= math.Sqrt(max(0, 1-t*t))
	if s := q.left[j] / q.full[j]; s*s < 2e-15 || t*t > 1-1e-8 {
		q.left[j] = Norm(rest)
		q.full[j] = q.left[j]
	}
}

// MultiplyQT replaces b by Q^T b.
func (q *PivotedQR) MultiplyQT(b []float64) {
	for k := range q.N {
		if q.beta[k] != 0 {
			reflect(q.A[k*q.M+k:(k+1)*q.M], b[k:q.M], q.beta[k])
		}
	}
}

// SolveUpper solves the leading Rank x Rank block of R z = b. The rest of z is 0.
func (q *PivotedQR) SolveUpper(z, b []float64) {
	copy(z, b[:q.N])
	clear(z[q.Rank:])
	for k := q.Rank - 1; k >= 0; k-- {
		z[k] /= q.Diag[k]
		AddScaled(z[:k], -z[k], q.A[k*q.M:k*q.M+k])
	}
}

// SolveTransposed replaces b by the solution of R^T z = b, for full rank.
func (q *PivotedQR) SolveTransposed(b []float64) {
	for k := range q.N {
		b[k] = (b[k] - Dot(q.A[k*q.M:k*q.M+k], b[:k])) / q.Diag[k]
	}
}

// ProjectOut removes from b its projection on the span of the factored columns.
func (q *PivotedQR) ProjectOut(b []float64) {
	t := make([]float64, q.M)
	copy(t, b)
	r := q.Rank
	for k := range q.N {
		if q.beta[k] != 0 {
			reflect(q.A[k*q.M+k:(k+1)*q.M], t[k:], q.beta[k])
		}
	}
	clear(t[:r])
	for k := q.N - 1; k >= 0; k-- {
		if q.beta[k] != 0 {
			reflect(q.A[k*q.M+k:(k+1)*q.M], t[k:], q.beta[k])
		}
	}
	copy(b, t)
}
