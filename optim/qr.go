package optim

import "math"

// pivoted is a factorisation A P = Q R with the longest remaining column first.
type pivoted struct {
	m, n int
	a    []float64 // R above the diagonal, the vectors of the reflections below
	diag []float64 // of R
	beta []float64
	perm []int // column k of R is column perm[k] of A
	rank int
	left []float64 // lengths of the remaining columns
	full []float64
}

func newPivoted(m, n int, floats func(k int) []float64) *pivoted {
	return &pivoted{m: m, n: n, a: floats(m * n), diag: floats(n), beta: floats(n), left: floats(n), full: floats(n), perm: make([]int, n)}
}

// factor decomposes q.a in place.
func (q *pivoted) factor() {
	m, n := q.m, q.n
	for j := range n {
		q.perm[j] = j
		q.left[j] = norm(q.a[j*m : (j+1)*m])
		q.full[j] = q.left[j]
	}
	for k := range n {
		q.bringLongest(k)
		col := q.a[k*m : (k+1)*m]
		q.diag[k], q.beta[k] = householder(col[k:])
		for j := k + 1; j < n; j++ {
			c := q.a[j*m : (j+1)*m]
			if q.beta[k] != 0 {
				reflect(col[k:], c[k:], q.beta[k])
			}
			q.shorten(j, c[k], c[k+1:])
		}
	}
	q.rank = 0
	for q.rank < n && math.Abs(q.diag[q.rank]) > 0x1p-52*float64(max(m, n))*math.Abs(q.diag[0]) {
		q.rank++
	}
}

// bringLongest exchanges column k with the longest of the remaining ones.
func (q *pivoted) bringLongest(k int) {
	best := k
	for j := k + 1; j < q.n; j++ {
		if q.left[j] > q.left[best] {
			best = j
		}
	}
	if best == k {
		return
	}
	x, y := q.a[k*q.m:(k+1)*q.m], q.a[best*q.m:(best+1)*q.m]
	for i, v := range x {
		x[i], y[i] = y[i], v
	}
	q.perm[k], q.perm[best] = q.perm[best], q.perm[k]
	q.left[best], q.full[best] = q.left[k], q.full[k]
}

// shorten updates the length of column j, whose first element becomes part of R;
// where too many digits cancel it is computed anew.
func (q *pivoted) shorten(j int, first float64, rest []float64) {
	if q.left[j] == 0 {
		return
	}
	t := first / q.left[j]
	q.left[j] *= math.Sqrt(max(0, 1-t*t))
	if s := q.left[j] / q.full[j]; s*s < 2e-15 || t*t > 1-1e-8 {
		q.left[j] = norm(rest)
		q.full[j] = q.left[j]
	}
}

// transposed applies Q^T to b.
func (q *pivoted) transposed(b []float64) {
	for k := range q.n {
		if q.beta[k] != 0 {
			reflect(q.a[k*q.m+k:(k+1)*q.m], b[k:q.m], q.beta[k])
		}
	}
}

// back solves the leading rank x rank block of R z = b, with 0 beyond.
func (q *pivoted) back(z, b []float64) {
	copy(z, b[:q.n])
	clear(z[q.rank:])
	for k := q.rank - 1; k >= 0; k-- {
		z[k] /= q.diag[k]
		axpy(z[:k], -z[k], q.a[k*q.m:k*q.m+k])
	}
}

// forward solves R^T z = b in place, for full rank.
func (q *pivoted) forward(b []float64) {
	for k := range q.n {
		b[k] = (b[k] - dot(q.a[k*q.m:k*q.m+k], b[:k])) / q.diag[k]
	}
}
