package optim

import (
	"math"

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
}

// factor decomposes the scaled Jacobian.
func (d *dense) factor() {
	d.scaled()
	n := d.n
	if d.svd == nil {
		mem := linalg.NewArena(3*n*n + 5*n)
		d.svd = &secular{aug: mem.Floats(2 * n * n), v: mem.Floats(n * n), rhs: mem.Floats(2 * n), s: mem.Floats(n), su: mem.Floats(n), uf: mem.Floats(n)}
	}
	t := d.svd
	clear(t.aug)
	copy(t.rhs, d.b[:n])
	for k, to := range d.q.Perm {
		col := t.aug[to*2*n : (to+1)*2*n]
		copy(col, d.q.A[k*d.q.M:k*d.q.M+k])
		col[k] = d.q.Diag[k]
		col[n+to] = math.Sqrt(max(d.diagH[to], 0))
	}
	linalg.SVD(t.aug, 2*n, n, t.s, t.v)
	for k, s := range t.s {
		t.uf[k], t.su[k] = 0, linalg.Dot(t.aug[k*2*n:(k+1)*2*n], t.rhs)
		if s > 0 {
			t.uf[k] = t.su[k] / s
		}
	}
}

func (d *dense) fullRank() bool {
	lo, hi := math.Inf(1), 0.0
	for _, s := range d.svd.s {
		lo, hi = min(lo, s), max(hi, s)
	}
	return d.m >= d.n && lo > 0x1p-52*float64(d.m)*hi
}

// region finds the step by Newton's method on the secular equation.
func (d *dense) region(radius, par float64) float64 {
	full := d.fullRank()
	if full {
		d.stepFor(0)
		if linalg.Norm(d.stepH) <= radius {
			return 0
		}
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
