// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/kernels"
)

// marginalTile is the number of points whose products with the basis stay in the first-level cache.
const marginalTile = 256

// pivotLimit is the part of a diagonal element that a pivot must keep: below it, sums in float64 would lose a third of
// their digits, and they are done again in twice the precision.
const pivotLimit = 1e-5

// marginalKernels are the routines of package kernels for float64, whatever the precision of the program.
type marginalKernels struct {
	mul            func(dst, a, b *float64, n int)
	fma, fmaScalar func(dst, a, b, c *float64, n int)
	dot            func(a, b *float64, n int) float64
}

func newMarginalKernels(c *cpu.Call) marginalKernels {
	return marginalKernels{kernels.Binary64(c.Level, "mul"), kernels.Ternary64(c.Level, "fma"), kernels.Ternary64(c.Level, "fma_s"), kernels.Dot64(c.Level)}
}

// marginalWork is scratch memory of one goroutine.
type marginalWork struct {
	t, d, s              []float64 // tiles of t and d, and K tiles of S
	m, v                 []float64 // lower triangle of M by rows, and S d
	factor, inverse, sum []float64 // L, L^-1 and the coefficients
	twice                []double  // M and v in twice the precision
	record               []float64
	number               float64
}

// newMarginalWork returns memory for each goroutine of a step with k coefficients.
func newMarginalWork(c *cpu.Call, k int) []marginalWork {
	all := make([]marginalWork, max(1, c.Threads))
	pairs := k * (k + 1) / 2
	for i := range all {
		w := &all[i]
		w.t, w.d, w.s = make([]float64, marginalTile), make([]float64, marginalTile), make([]float64, k*marginalTile)
		w.m, w.v = make([]float64, pairs), make([]float64, k)
		w.factor, w.inverse, w.sum = make([]float64, pairs), make([]float64, pairs), make([]float64, k)
		w.record = make([]float64, recordSize(k))
	}
	return all
}

func runMarginal[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	k, n := c.InShape[2][0], c.InShape[2][1]
	size := 2 * recordSize(k)
	return marginalRows.each(c, k*k*n, func(at []int) func(hand, from, to int) {
		w := newMarginalWork(c, k)
		kernels := newMarginalKernels(c)
		basis := wideBasis(in[2], in[3])
		return func(hand, from, to int) {
			w := &w[hand]
			for r := from; r < to; r++ {
				t, d := in[0][at[4*r]:][:n], in[1][at[4*r+1]:][:n]
				w.normal(kernels, loader(t), loader(d), basis, k, n)
				if !w.invert(k) && !w.again(loader(t), loader(d), basis, k, n) {
					for i := range w.record {
						w.record[i] = math.NaN()
					}
				} else {
					w.record[0] += w.squares(kernels, loader(t), loader(d), basis, k, n)
				}
				storeRecord(out[r*size:(r+1)*size], w.record)
			}
		}
	})
}

// loader returns the reader of a row.
func loader[T cpu.Real](x []T) tile {
	switch x := any(x).(type) {
	case []float64:
		return tile{f64: x}
	case []float32:
		return tile{f32: x}
	}
	return tile{}
}

// tile reads a row of either precision.
type tile struct {
	f64 []float64
	f32 []float32
}

func (x tile) read(dst []float64, at int) {
	if x.f64 != nil {
		copy(dst, x.f64[at:])
		return
	}
	for i, v := range x.f32[at : at+len(dst)] {
		dst[i] = float64(v)
	}
}

// normal sums M and v, tile by tile.
func (w *marginalWork) normal(f marginalKernels, t, d tile, basis []float64, k, n int) {
	clear(w.m)
	clear(w.v)
	for begin := 0; begin < n; begin += marginalTile {
		size := min(marginalTile, n-begin)
		t.read(w.t[:size], begin)
		d.read(w.d[:size], begin)
		for i := range k {
			s := w.s[i*marginalTile:]
			f.mul(&s[0], &basis[i*n+begin], &w.t[0], size)
			w.v[i] += f.dot(&s[0], &w.d[0], size)
			for j := range i + 1 {
				w.m[i*(i+1)/2+j] += f.dot(&s[0], &w.s[j*marginalTile], size)
			}
		}
	}
}

// inner sums v = S d alone.
func (w *marginalWork) inner(f marginalKernels, t, d tile, basis []float64, k, n int) {
	clear(w.v)
	for begin := 0; begin < n; begin += marginalTile {
		size := min(marginalTile, n-begin)
		t.read(w.t[:size], begin)
		d.read(w.d[:size], begin)
		f.mul(&w.d[0], &w.d[0], &w.t[0], size)
		for i := range k {
			w.v[i] += f.dot(&basis[i*n+begin], &w.d[0], size)
		}
	}
}

// solve replaces v by M^-1 v, from L^-1.
func (w *marginalWork) solve(k int) {
	for i := range k {
		s := 0.0
		for j, v := range w.inverse[i*(i+1)/2 : (i+1)*(i+2)/2] {
			s += v * w.v[j]
		}
		w.sum[i] = s
	}
	for j := range k {
		s := 0.0
		for i := j; i < k; i++ {
			s += w.inverse[i*(i+1)/2+j] * w.sum[i]
		}
		w.v[j] = s
	}
}

// expand returns m elements from begin on of the sum of the basis with coefficients v.
func (w *marginalWork) expand(f marginalKernels, basis []float64, k, n, begin, m int) []float64 {
	c := w.s[:m]
	clear(c)
	for i := range k {
		w.number = w.v[i]
		f.fmaScalar(&c[0], &basis[i*n+begin], &w.number, &c[0], m)
	}
	return c
}

// squares returns |d - S^T a|^2 of the coefficients a in the record.
func (w *marginalWork) squares(f marginalKernels, t, d tile, basis []float64, k, n int) float64 {
	for i := range w.v {
		w.v[i] = -w.record[1+i]
	}
	total := 0.0
	for begin := 0; begin < n; begin += marginalTile {
		size := min(marginalTile, n-begin)
		t.read(w.t[:size], begin)
		d.read(w.d[:size], begin)
		c := w.expand(f, basis, k, n, begin, size)
		f.fma(&w.d[0], &c[0], &w.t[0], &w.d[0], size)
		total += f.dot(&w.d[0], &w.d[0], size)
	}
	return total
}

// invert factors M = L L^T and fills the record: log det M, a and L^-1. It reports false if M is too ill-conditioned
// for float64.
func (w *marginalWork) invert(k int) bool {
	l := w.factor
	logDet := 0.0
	for i := range k {
		row := l[i*(i+1)/2 : (i+1)*(i+2)/2]
		for j := range i + 1 {
			s := w.m[i*(i+1)/2+j]
			other := l[j*(j+1)/2:]
			for e := range j {
				s -= row[e] * other[e]
			}
			if j < i {
				row[j] = s / other[j]
				continue
			}
			if !(s > pivotLimit*w.m[i*(i+1)/2+i]) || math.IsInf(s, 0) {
				return false
			}
			row[i] = math.Sqrt(s)
			logDet += math.Log(s)
		}
	}
	for i := range k {
		row := w.inverse[i*(i+1)/2 : (i+1)*(i+2)/2]
		for j := range i {
			s := 0.0
			for e := j; e < i; e++ {
				s -= l[i*(i+1)/2+e] * w.inverse[e*(e+1)/2+j]
			}
			row[j] = s / l[i*(i+1)/2+i]
		}
		row[i] = 1 / l[i*(i+1)/2+i]
	}
	w.solve(k)
	w.record[0] = logDet
	copy(w.record[1:], w.v)
	copy(w.record[1+k:], w.inverse)
	return true
}

// again does in twice the precision what normal and invert do. It reports false if M has no inverse.
func (w *marginalWork) again(t, d tile, basis []float64, k, n int) bool {
	pairs := k * (k + 1) / 2
	if w.twice == nil {
		w.twice = make([]double, 2*pairs+2*k)
	}
	m, inverse, v, x := w.twice[:pairs], w.twice[pairs:2*pairs], w.twice[2*pairs:2*pairs+k], w.twice[2*pairs+k:]
	clear(w.twice)
	for begin := 0; begin < n; begin += marginalTile {
		size := min(marginalTile, n-begin)
		t.read(w.t[:size], begin)
		d.read(w.d[:size], begin)
		for e := range size {
			for i := range k {
				x[i] = product(basis[i*n+begin+e], w.t[e])
				v[i] = v[i].plus(x[i].times(double{w.d[e], 0}))
				for j := range i + 1 {
					m[i*(i+1)/2+j] = m[i*(i+1)/2+j].plus(x[i].times(x[j]))
				}
			}
		}
	}
	logDet := 0.0
	for i := range k { // m becomes L
		for j := range i + 1 {
			s := m[i*(i+1)/2+j]
			for e := range j {
				s = s.plus(m[i*(i+1)/2+e].times(m[j*(j+1)/2+e]).negative())
			}
			if j < i {
				m[i*(i+1)/2+j] = s.over(m[j*(j+1)/2+j])
				continue
			}
			if !(s.hi > 0) || math.IsInf(s.hi, 0) {
				return false
			}
			logDet += math.Log(s.hi)
			m[i*(i+1)/2+i] = s.root()
		}
	}
	for i := range k {
		for j := range i + 1 {
			var s double
			if i == j {
				s.hi = 1
			}
			for e := j; e < i; e++ {
				s = s.plus(m[i*(i+1)/2+e].times(inverse[e*(e+1)/2+j]).negative())
			}
			inverse[i*(i+1)/2+j] = s.over(m[i*(i+1)/2+i])
		}
	}
	for i := range k {
		x[i] = double{}
		for j := range i + 1 {
			x[i] = x[i].plus(inverse[i*(i+1)/2+j].times(v[j]))
		}
	}
	w.record[0] = logDet
	for j := range k {
		var s double
		for i := j; i < k; i++ {
			s = s.plus(inverse[i*(i+1)/2+j].times(x[i]))
		}
		w.record[1+j] = s.hi
	}
	for i, v := range inverse {
		w.record[1+k+i] = v.hi
	}
	return true
}
