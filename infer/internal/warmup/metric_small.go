// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import (
	"math"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// SmallDim is the largest dimension in which the low-rank metric is learned from
// running factors: estimates then cost microseconds and no draw is stored.
const SmallDim = 8

// smallEstimator is the lowRankEstimator of few parameters. It keeps the
// triangular factors of the centred draws and gradients, which like the samples
// themselves never square their scales.
type smallEstimator struct {
	q, g scatterFactor
	// work is scratch of Metric: three matrices and a row.
	work []float64
}

func newSmallEstimator(dim int) *smallEstimator {
	return &smallEstimator{q: newScatter(dim), g: newScatter(dim)}
}

func (e *smallEstimator) Count() int { return e.q.n }
func (e *smallEstimator) Reset()     { e.q.reset(); e.g.reset() }

func (e *smallEstimator) Add(q, g []float64) {
	e.q.add(q)
	e.g.add(g)
}

// Metric is fitLowRank with the basis of all parameters.
//
//	R_y = R_q/(s sqrt(gamma)) over 1,  R_a = s R_g/sqrt(gamma) over 1
//	T = R_a^-1 V sqrt(sigma),  V sigma W = svd(R_a R_y^T),  U sqrt(lambda) X = svd(T)
func (e *smallEstimator) Metric() (hamiltonian.Metric, bool) {
	d := e.q.dim()
	if d == 0 || e.q.n < 4 {
		return hamiltonian.Metric{}, false
	}
	e.q.flush()
	e.g.flush()
	m := hamiltonian.Metric{Scale: make([]float64, d)}
	for i := range m.Scale {
		m.Scale[i] = math.Sqrt(math.Sqrt(e.q.variance(i)) / math.Sqrt(e.g.variance(i)))
		if !(m.Scale[i] > 0) || math.IsInf(m.Scale[i], 0) {
			return hamiltonian.Metric{}, false
		}
	}
	if len(e.work) == 0 {
		e.work = make([]float64, 3*d*d+d)
	}
	ry, ra, t := e.work[:d*d], e.work[d*d:2*d*d], e.work[2*d*d:3*d*d]
	sigma := e.work[3*d*d:]
	e.q.overIdentity(ry, t, m.Scale, true)
	e.g.overIdentity(ra, t, m.Scale, false)
	for j := range d { // column j of t is row j of ry times ra
		for i := range d {
			from := max(i, j)
			t[j*d+i] = linalg.FastDot(ra[i*d+from:i*d+d], ry[j*d+from:j*d+d])
		}
	}
	orthogonalize(t, sigma)
	for j, s := range sigma {
		col := t[j*d : (j+1)*d]
		for i := d - 1; i >= 0; i-- {
			col[i] = (col[i]/math.Sqrt(s) - linalg.FastDot(ra[i*d+i+1:i*d+d], col[i+1:])) / ra[i*d+i]
		}
	}
	orthogonalize(t, sigma)
	return m, addDirections(&m, t, sigma)
}

// addDirections adds the columns of t, of lengths sqrt(lambda), where lambda is
// beyond the cutoff. It returns false when one is not a number.
func addDirections(m *hamiltonian.Metric, t, root []float64) bool {
	d := len(root)
	for k, s := range root {
		lambda := s * s
		if !(lambda > 0) || math.IsInf(lambda, 0) {
			return false
		}
		if lambda <= fisherCutoff && lambda >= 1/fisherCutoff {
			continue
		}
		m.Grow = append(m.Grow, s-1)
		for _, v := range t[k*d : (k+1)*d] {
			m.Vec = append(m.Vec, v/s)
		}
	}
	return true
}

func (e *smallEstimator) Save(w *checkpoint.Encoder) { e.q.save(w); e.g.save(w) }
func (e *smallEstimator) Load(r *checkpoint.Decoder) { e.q.load(r); e.g.load(r) }

// scatterFactor is a running sample: its mean and the upper triangular R with R^T R =
// sum of (x - mean)(x - mean)^T.
type scatterFactor struct {
	n    int
	mean []float64
	// r is R by rows, in a full square, without the waiting rows.
	r []float64
	// rows are the last rows, which are taken in together.
	rows []float64
}

// flushRows is the number of rows that a triangle takes in at once.
const flushRows = 16

func newScatter(dim int) scatterFactor {
	b := make([]float64, dim+dim*dim+flushRows*dim)
	return scatterFactor{mean: b[:dim:dim], r: b[dim : dim+dim*dim : dim+dim*dim], rows: b[dim+dim*dim : dim+dim*dim]}
}

func (s *scatterFactor) dim() int { return len(s.mean) }

func (s *scatterFactor) reset() {
	s.n = 0
	s.rows = s.rows[:0]
	clear(s.mean)
	clear(s.r)
}

func (s *scatterFactor) save(w *checkpoint.Encoder) {
	w.Int(s.n)
	w.Floats(s.mean)
	w.Floats(s.r)
	w.Floats(s.rows)
}

func (s *scatterFactor) load(r *checkpoint.Decoder) {
	s.n = r.Int()
	r.FloatsInto(s.mean)
	r.FloatsInto(s.r)
	rows := r.Floats()
	if len(rows) > cap(s.rows) || len(rows) > 0 && len(rows)%s.dim() != 0 {
		r.Fail("holds %d numbers of draws for %d parameters", len(rows), s.dim())
		return
	}
	s.rows = append(s.rows[:0], rows...)
}

func (s *scatterFactor) add(x []float64) {
	if len(s.rows) == cap(s.rows) {
		s.flush()
	}
	inverse := 1 / float64(s.n+1)
	root := math.Sqrt(float64(s.n) * inverse)
	s.n++
	at := len(s.rows)
	s.rows = s.rows[:at+len(x)]
	row := s.rows[at:]
	for i, v := range x {
		d := v - s.mean[i]
		s.mean[i] += d * inverse
		row[i] = root * d
	}
}

// flush takes the waiting rows into the triangle.
func (s *scatterFactor) flush() {
	updateTriangle(s.r, s.rows, s.dim())
	s.rows = s.rows[:0]
}

// variance returns the population variance of parameter j of a settled sample.
func (s *scatterFactor) variance(j int) (v float64) {
	d := s.dim()
	for i := range j + 1 {
		v += s.r[i*d+j] * s.r[i*d+j]
	}
	return v / float64(s.n)
}

// overIdentity writes the triangular factor of the scaled sample over the
// identity, see geometricMean.
func (s *scatterFactor) overIdentity(r, identity, scale []float64, divide bool) {
	d, root := s.dim(), 1/math.Sqrt(fisherGamma)
	for i := range d {
		for j := range d {
			f := scale[j]
			if divide {
				f = 1 / f
			}
			r[i*d+j] = s.r[i*d+j] * f * root
		}
	}
	clear(identity)
	for k := range d {
		identity[k*d+k] = 1
	}
	updateTriangle(r, identity, d)
}

// updateTriangle adds rows to the sample of the upper triangular factor r, by Householder
// reflections; it spoils the rows.
//
// Reference: Golub and Van Loan, Matrix Computations, section 5.2.
func updateTriangle(r, rows []float64, d int) {
	for j := range d {
		top := r[j*d : (j+1)*d]
		h := columnLength(top[j], rows[min(j, len(rows)):], d)
		if h == 0 {
			continue
		}
		if top[j] > 0 {
			h = -h
		}
		scale := 1 / h // of the vector of the reflection: lead, then the rows
		lead := top[j]*scale - 1
		for at := j; at < len(rows); at += d {
			rows[at] *= scale
		}
		top[j] = h
		for k := j + 1; k < d; k++ {
			t := lead * top[k]
			for at := 0; at < len(rows); at += d {
				t += rows[at+j] * rows[at+k]
			}
			t /= lead
			top[k] += t * lead
			for at := 0; at < len(rows); at += d {
				rows[at+k] += t * rows[at+j]
			}
		}
	}
}

// columnLength returns the length of a vector: first, then every d-th number.
func columnLength(first float64, v []float64, d int) float64 {
	s := first * first
	for i := 0; i < len(v); i += d {
		s += v[i] * v[i]
	}
	if s > 1e-250 && s < 1e250 {
		return math.Sqrt(s)
	}
	h := math.Abs(first)
	for i := 0; i < len(v); i += d {
		h = math.Hypot(h, v[i])
	}
	return h
}

// orthogonalize rotates the columns of a, one after the other in memory, until
// they are orthogonal, and writes their lengths: the one-sided Jacobi method.
// They then are the left singular vectors times the singular values.
//
// Reference: Demmel and Veselic, doi:10.1137/0613074.
func orthogonalize(a, length []float64) {
	d := len(length)
	for range 40 { // it needs about five
		done := true
		for p := range d {
			for q := p + 1; q < d; q++ {
				done = !rotateApart(a[p*d:(p+1)*d], a[q*d:(q+1)*d]) && done
			}
		}
		if done {
			break
		}
	}
	for k := range length {
		length[k] = math.Sqrt(linalg.FastDot(a[k*d:(k+1)*d], a[k*d:(k+1)*d]))
	}
}

// rotateApart makes x and y orthogonal; it returns false if they are.
func rotateApart(x, y []float64) bool {
	var xx, yy, xy float64
	for i, v := range x {
		xx += v * v
		yy += y[i] * y[i]
		xy += v * y[i]
	}
	if !(math.Abs(xy) > 1e-15*math.Sqrt(xx)*math.Sqrt(yy)) {
		return false
	}
	z := (yy - xx) / (2 * xy)
	t := math.Copysign(1/(math.Abs(z)+math.Sqrt(1+z*z)), z)
	c := 1 / math.Sqrt(1+t*t)
	s := c * t
	for i, v := range x {
		x[i], y[i] = c*v-s*y[i], s*v+c*y[i]
	}
	return true
}
