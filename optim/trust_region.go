// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// secular solves trust regions from the singular values of J d with the rows of
// diagH under it.
type secular struct {
	// aug is 2n x n. Its columns become U s.
	aug []float64
	rhs []float64
	// s and v are singular values and right vectors.
	s, v []float64
	// su and uf are (U s)^T f and U^T f.
	su, uf []float64
	// done says whether s and v are those of the present Jacobian.
	done bool
	// qr factors aug where the step needs no singular values; qb is Q^T times the right-hand side.
	qr *linalg.PivotedQR
	qb []float64
}

// factor factors the scaled Jacobian, with the rows of diagH under it.
func (d *dense) factor() {
	d.scaled()
	n := d.n
	if d.svd == nil {
		mem := linalg.NewArena(6*n*n + 16*n)
		d.svd = &secular{aug: mem.Floats(2 * n * n), v: mem.Floats(n * n), rhs: mem.Floats(2 * n), s: mem.Floats(n), su: mem.Floats(n), uf: mem.Floats(n),
			qr: linalg.NewPivotedQR(2*n, n, mem), qb: mem.Floats(2 * n)}
	}
	d.svd.done = false
}

// augment fills a matrix (2n, n), by columns, and its right-hand side.
func (d *dense) augment(a, rhs []float64) {
	n := d.n
	clear(a)
	copy(rhs, d.b[:n])
	clear(rhs[n:])
	for k, to := range d.q.Perm {
		col := a[to*2*n : (to+1)*2*n]
		copy(col, d.q.A[k*d.q.M:k*d.q.M+k])
		col[k] = d.q.Diag[k]
		col[n+to] = math.Sqrt(max(d.diagH[to], 0))
	}
}

// decompose finds the singular values, unless they are known.
func (d *dense) decompose() {
	t, n := d.svd, d.n
	if t.done {
		return
	}
	t.done = true
	d.augment(t.aug, t.rhs)
	linalg.SVD(t.aug, 2*n, n, t.s, t.v)
	for k, s := range t.s {
		t.uf[k], t.su[k] = 0, linalg.Dot(t.aug[k*2*n:(k+1)*2*n], t.rhs)
		if s > 0 {
			t.uf[k] = t.su[k] / s
		}
	}
}

// surelyFull is the ratio of diagonal elements of a pivoted triangle above which the matrix has full rank. Singular values
// are needed to tell below it.
const surelyFull = 1e-7

// inner sets stepH to the minimiser of the model without a region and reports whether it lies inside the region. It
// says no where only singular values can tell.
func (d *dense) inner(radius float64) bool {
	q, b := d.q, d.b
	if d.m < d.n || d.n == 0 {
		return false
	}
	if slices.ContainsFunc(d.diagH, func(h float64) bool { return h > 0 }) {
		q, b = d.svd.qr, d.svd.qb
		d.augment(q.A, b)
		q.Factor()
		q.MultiplyQT(b)
	}
	if q.Rank < d.n || math.Abs(q.Diag[d.n-1]) < surelyFull*math.Abs(q.Diag[0]) {
		return false
	}
	z := d.svd.rhs[:d.n]
	q.SolveUpper(z, b)
	if !(linalg.Norm(z) <= radius) {
		return false
	}
	for k, to := range q.Perm {
		d.stepH[to] = -z[k]
	}
	return true
}

func (d *dense) fullRank() bool { return d.m >= d.n && slices.Min(d.svd.s) > d.leastSingular() }

// leastSingular is the singular value up to which others are rounding errors.
func (d *dense) leastSingular() float64 {
	return 0x1p-52 * float64(max(d.m, d.n)) * slices.Max(d.svd.s)
}

// shortest sets stepH to the shortest step to the minimum of the model. Where the Jacobian lacks rank, directions that change
// nothing are left out.
func (d *dense) shortest() {
	clear(d.stepH)
	n, t, least := d.n, d.svd, d.leastSingular()
	for k, s := range t.s {
		if s > least {
			linalg.AddScaled(d.stepH, -t.su[k]/(s*s), t.v[k*n:(k+1)*n])
		}
	}
}

// region finds the step by Newton's method on the secular equation.
func (d *dense) region(radius, par float64) float64 {
	if d.inner(radius) {
		return 0
	}
	d.decompose()
	full := d.fullRank()
	if d.shortest(); linalg.Norm(d.stepH) <= radius {
		return 0
	}
	upper, lower := linalg.Norm(d.svd.su)/radius, 0.0
	if full {
		phi, slope := d.excess(0, radius)
		lower = -phi / slope
	}
	if par == 0 {
		par = max(0.001*upper, math.Sqrt(lower*upper))
	}
	for range 10 {
		if par < lower || par > upper {
			par = max(0.001*upper, math.Sqrt(lower*upper))
		}
		phi, slope := d.excess(par, radius)
		if phi < 0 {
			upper = par
		}
		ratio := phi / slope
		lower = max(lower, par-ratio)
		par -= (phi + radius) * ratio / radius
		if math.Abs(phi) < 0.01*radius {
			break
		}
	}
	d.stepFor(par)
	if l := linalg.Norm(d.stepH); l > 0 {
		linalg.Scale(d.stepH, radius/l)
	}
	return par
}

// stepFor sets stepH = -(J^T J + par)^-1 J^T f.
func (d *dense) stepFor(par float64) {
	clear(d.stepH)
	n, t := d.n, d.svd
	for k, s := range t.s {
		if den := s*s + par; den > 0 {
			linalg.AddScaled(d.stepH, -t.su[k]/den, t.v[k*n:(k+1)*n])
		}
	}
}

// excess returns by how much the step of a multiplier is longer than radius, and
// the derivative of that.
func (d *dense) excess(par, radius float64) (phi, slope float64) {
	p, q := 0.0, 0.0
	for k, s := range d.svd.s {
		if den := s*s + par; den > 0 {
			c := d.svd.su[k] / den
			p += c * c
			q += c * c / den
		}
	}
	l := math.Sqrt(p)
	return l - radius, -q / l
}
