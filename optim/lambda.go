package optim

import "math"

// marquardtStep solves the trust region of Moré: h minimises |A h + f| with |h|
// at most radius, from the factorisation of A.
type marquardtStep struct {
	q       *pivoted
	s       []float64 // upper triangle of [R; sqrt(par) I], by columns
	z, y, w []float64 // n
	row     []float64
}

func newMarquardtStep(q *pivoted) *marquardtStep {
	n := q.n
	mem := &vectors{make([]float64, n*n+4*n)}
	return &marquardtStep{q: q, s: mem.floats(n * n), z: mem.floats(n), y: mem.floats(n), w: mem.floats(n), row: mem.floats(n)}
}

// within sets h and returns the multiplier; par is a guess. b is Q^T f. The
// length of h is within a tenth of radius unless the whole step is shorter
// (Moré 1978, algorithm 5.5).
func (t *marquardtStep) within(h, b []float64, radius, par float64) float64 {
	q, n := t.q, t.q.n
	q.back(t.z, b)
	t.unpivot(h)
	length := norm(h)
	if !finite(length) { // a nearly singular triangle: only damped steps are safe
		length = math.MaxFloat64
	}
	excess := length - radius
	if excess <= 0.1*radius {
		return 0
	}
	lower := 0.0
	if q.rank == n {
		t.direction(h, length)
		q.forward(t.w)
		if l := norm(t.w); l > 0 && finite(l) {
			lower = excess / radius / l / l
		}
	}
	for k := range n { // gradient R^T b
		t.w[k] = dot(q.a[k*q.m:k*q.m+k], b[:k]) + q.diag[k]*b[k]
	}
	slope := norm(t.w)
	upper := slope / radius
	if upper == 0 {
		upper = math.SmallestNonzeroFloat64 / min(radius, 0.1)
	}
	par = min(max(par, lower), upper)
	if par == 0 {
		par = slope / length
	}
	for range 10 {
		if par == 0 {
			par = max(math.SmallestNonzeroFloat64, 0.001*upper)
		}
		t.damp(par, b)
		t.solve(t.z, t.y)
		t.unpivot(h)
		length = norm(h)
		last := excess
		excess = length - radius
		if math.Abs(excess) <= 0.1*radius || lower == 0 && excess <= last && last < 0 {
			break
		}
		t.direction(h, length)
		t.transposedSolve(t.w)
		l := norm(t.w)
		if excess > 0 {
			lower = max(lower, par)
		} else {
			upper = min(upper, par)
		}
		par = max(lower, par+excess/radius/l/l)
	}
	return par
}

// unpivot sets h = -P z.
func (t *marquardtStep) unpivot(h []float64) {
	for k, to := range t.q.perm {
		h[to] = -t.z[k]
	}
}

// direction sets w = P^T h / length.
func (t *marquardtStep) direction(h []float64, length float64) {
	for k, to := range t.q.perm {
		t.w[k] = h[to] / length
	}
}

// damp rotates the rows sqrt(par) I into R: s becomes the triangle, y the right
// side that belongs to b.
func (t *marquardtStep) damp(par float64, b []float64) {
	q, n := t.q, t.q.n
	for k := range n {
		copy(t.s[k*n:], q.a[k*q.m:k*q.m+k])
		t.s[k*n+k] = q.diag[k]
	}
	copy(t.y, b[:n])
	root := math.Sqrt(par)
	for j := range n { // row j of sqrt(par) I fills in from column j on
		clear(t.row[j:])
		t.row[j] = root
		right := 0.0
		for k := j; k < n; k++ {
			c, s, r := rotation(t.s[k*n+k], t.row[k])
			if s == 0 {
				continue
			}
			t.s[k*n+k] = r
			t.y[k], right = c*t.y[k]+s*right, c*right-s*t.y[k]
			for i := k + 1; i < n; i++ {
				x := &t.s[i*n+k]
				*x, t.row[i] = c**x+s*t.row[i], c*t.row[i]-s**x
			}
		}
	}
}

// solve solves S z = y.
func (t *marquardtStep) solve(z, y []float64) {
	n := t.q.n
	copy(z, y)
	for k := n - 1; k >= 0; k-- {
		z[k] /= t.s[k*n+k]
		axpy(z[:k], -z[k], t.s[k*n:k*n+k])
	}
}

// transposedSolve solves S^T z = z in place.
func (t *marquardtStep) transposedSolve(z []float64) {
	n := t.q.n
	for k := range n {
		z[k] = (z[k] - dot(t.s[k*n:k*n+k], z[:k])) / t.s[k*n+k]
	}
}

// normal sets a = -(A^T A + par)^-1 A^T c for the par of the last damp, from
// Q^T c.
func (t *marquardtStep) normal(a, qtc []float64) {
	q, n := t.q, t.q.n
	for k := range n {
		t.w[k] = dot(q.a[k*q.m:k*q.m+k], qtc[:k]) + q.diag[k]*qtc[k]
	}
	t.transposedSolve(t.w)
	t.solve(t.z, t.w)
	t.unpivot(a)
}
