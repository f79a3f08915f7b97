// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
)

// runMarginalPart copies what the operation returns from the record.
func runMarginalPart[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	k := c.InShape[3][0]
	width, size, first := 1, 2*recordSize(k), 0
	if c.Op == marginalFitOp.prim {
		width, first = k, 1
	}
	for r := range len(out) / width {
		copy(out[r*width:(r+1)*width], in[0][r*size+first:])
	}
	return nil
}

// inverseFactor reads L^-1 of a record; row i of it begins at i(i+1)/2.
func inverseFactor[T cpu.Real](dst []float64, record []T, k int) {
	size := recordSize(k)
	for i := range dst {
		dst[i] = float64(record[1+k+i]) + float64(record[size+1+k+i])
	}
}

func runMarginalSolve[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	k := last(c.Shape)
	return marginalSolveRows.each(c, 2*k*k, func(at []int) func(hand, from, to int) {
		size, scratch := k*(k+1)/2, make([]float64, c.Threads*k*(k+5)/2+k*(k+5)/2)
		return func(hand, from, to int) {
			w := scratch[hand*k*(k+5)/2:][: k*(k+5)/2 : k*(k+5)/2]
			l, x := w[:size], w[size:]
			for r := from; r < to; r++ {
				inverseFactor(l, in[0][at[4*r]:], k)
				h, y := in[2][at[4*r+2]:][:k], out[r*k:(r+1)*k]
				for i := range k {
					s := 0.0
					for j, v := range l[i*(i+1)/2 : (i+1)*(i+2)/2] {
						s += v * float64(h[j])
					}
					x[i] = s
				}
				for j := range k {
					s := 0.0
					for i := j; i < k; i++ {
						s += l[i*(i+1)/2+j] * x[i]
					}
					y[j] = T(s)
				}
			}
		}
	})
}

func runMarginalLeverage[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	k, n := c.InShape[2][0], last(c.Shape)
	return marginalLeverageRows.each(c, k*k*n/2, func(at []int) func(hand, from, to int) {
		w := newMarginalWork(c, k)
		kernels := newMarginalKernels(c)
		basis := wideBasis(in[2], in[3])
		return func(hand, from, to int) {
			w := &w[hand]
			for r := from; r < to; r++ {
				inverseFactor(w.inverse, in[0][at[4*r]:], k)
				for begin := 0; begin < n; begin += marginalTile {
					m := min(marginalTile, n-begin)
					q, y := w.d[:m], w.t[:m]
					clear(q)
					for i := range k {
						clear(y)
						for j, v := range w.inverse[i*(i+1)/2 : (i+1)*(i+2)/2] {
							w.number = v
							kernels.fmaScalar(&y[0], &basis[j*n+begin], &w.number, &y[0], m)
						}
						kernels.fma(&q[0], &y[0], &y[0], &q[0], m)
					}
					for e, v := range q {
						out[r*n+begin+e] = T(v)
					}
				}
			}
		}
	})
}

// wideBasis returns the basis in float64, of which programs of float32 hold two parts.
func wideBasis[T cpu.Real](x, rest []T) []float64 {
	if x, ok := any(x).([]float64); ok {
		return x
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v) + float64(rest[i])
	}
	return out
}

func runMarginalSum[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	k, n := c.InShape[3][0], last(c.Shape)
	size := recordSize(k)
	return marginalSumRows.each(c, k*n, func(at []int) func(hand, from, to int) {
		w := newMarginalWork(c, k)
		kernels := newMarginalKernels(c)
		basis := wideBasis(in[3], in[4])
		return func(hand, from, to int) {
			w := &w[hand]
			for r := from; r < to; r++ {
				record := in[0][at[5*r]:]
				for i := range w.v {
					w.v[i] = float64(record[1+i]) + float64(record[size+1+i])
				}
				for begin := 0; begin < n; begin += marginalTile {
					m := min(marginalTile, n-begin)
					for e, v := range w.expand(kernels, basis, k, n, begin, m) {
						out[r*n+begin+e] = T(v)
					}
				}
			}
		}
	})
}

func runMarginalProject[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	k, n := c.InShape[3][0], last(c.Shape)
	return marginalProjectRows.each(c, 4*k*n, func(at []int) func(hand, from, to int) {
		w := newMarginalWork(c, k)
		kernels := newMarginalKernels(c)
		basis := wideBasis(in[3], in[4])
		fma, narrow := cpu.FMA[T](c, false), make([][]T, len(w))
		for i := range narrow {
			narrow[i] = make([]T, marginalTile)
		}
		return func(hand, from, to int) {
			w := &w[hand]
			for r := from; r < to; r++ {
				inverseFactor(w.inverse, in[0][at[5*r]:], k)
				t, j := in[1][at[5*r+1]:][:n], in[2][at[5*r+2]:][:n]
				w.inner(kernels, loader(t), loader(j), basis, k, n)
				w.solve(k)
				for i := range w.v {
					w.v[i] = -w.v[i]
				}
				for begin := 0; begin < n; begin += marginalTile {
					m := min(marginalTile, n-begin)
					c := narrowed(w.expand(kernels, basis, k, n, begin, m), narrow[hand])
					fma(&out[r*n+begin], &c[0], &t[begin], &j[begin], m)
				}
			}
		}
	})
}

// narrowed returns x in the precision of dst.
func narrowed[T cpu.Real](x []float64, dst []T) []T {
	if y, ok := any(x).([]T); ok {
		return y
	}
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = T(v)
	}
	return dst
}

// storeRecord writes numbers as two parts each.
func storeRecord[T cpu.Real](dst []T, values []float64) {
	n := len(values)
	for i, v := range values {
		hi := T(v)
		dst[i] = hi
		if rest := v - float64(hi); rest == rest && !math.IsInf(rest, 0) {
			dst[n+i] = T(rest)
		} else {
			dst[n+i] = 0
		}
	}
}
