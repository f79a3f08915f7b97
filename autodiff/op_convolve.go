// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// Convolve returns the convolution of rows, the last axis of x, with kernels of odd length 2h+1,
// the last axis of w,
//
//	y_n = sum_j w_j x_(n+h-j)
//
// as long as x, which counts as 0 outside. Leading axes broadcast, so that there is one kernel for
// all rows, or one for each. Zeros at both ends of a kernel cost nothing. Gradient: the correlation
// of g with w, and of g with x.
func Convolve(x, w *Node) *Node { return convolve(x, w, 0) }

// ConvolveSparse is Convolve with kernels whose zeros are constants, with a gradient of 0. This
// saves work if the kernels are shorter than the room they have.
func ConvolveSparse(x, w *Node) *Node { return convolve(x, w, 2) }

// Correlate returns y_n = sum_j w_j x_(n-h+j), the convolution with reversed kernels. It is the
// adjoint of [Convolve].
func Correlate(x, w *Node) *Node { return convolve(x, w, 1) }

// How a convolution is done: with reversed kernels, and with constant zeros in kernels.
const (
	reversedKernel = 1
	constantZeros  = 2
)

func convolve(x, w *Node, how int) *Node {
	if bad := notReal("convolve", x, w); bad != nil {
		return bad
	}
	if len(x.shape) < 1 || len(w.shape) < 1 || last(w.shape)%2 == 0 {
		return failed(&tensor.ShapeError{Op: "convolve", Got: []tensor.Shape{x.shape, w.shape}, Want: "rows, and kernels of odd length, in the last axes"})
	}
	lead, bad := convolveRows.lead("convolve", x, w)
	if bad != nil {
		return bad
	}
	y := newNode(convolveOp, withTail(lead, last(x.shape)), x, w)
	y.attr = []int{how}
	return y
}

// convolveTaps returns the gradient by the kernel: sum_n g_n x_(n+h-j), or of x_(n-h+j) if reversed; 0 for constant
// zeros.
func convolveTaps(x, g, w *Node, how int) *Node {
	lead, bad := convolveTapsRows.lead("convolve_taps", x, g, w)
	if bad != nil {
		return bad
	}
	y := newNode(convolveTapsOp, withTail(lead, last(w.shape)), x, g, w)
	y.attr = []int{how}
	return y
}

var (
	convolveRows     = rowOp{1, []int{1, 1}}
	convolveTapsRows = rowOp{1, []int{1, 1, 1}}
)

var convolveOp, convolveTapsOp *Op

func init() {
	convolveOp = register(&Op{Name: "convolve", Arity: 2, kind: compiler.Step, Smooth: true, lift: convolveRows.lift,
		vjp: func(g, y *Node, x []*Node) []*Node {
			return []*Node{convolve(g, x[1], y.attr[0]^reversedKernel), convolveTaps(x[0], g, x[1], y.attr[0])}
		},
		run:    func(c *cpu.Call) error { return c.Each(runConvolve[float64], runConvolve[float32]) },
		device: cuda.Convolve,
		Sample: func(in Source) []*Node {
			return []*Node{Convolve(in(-1, 1, 2, 6), in(-1, 1, 3)), Correlate(in(-1, 1, 4), in(-1, 1, 2, 5)), Convolve(in(-1, 1, 2), in(-1, 1, 7)),
				ConvolveSparse(in(-1, 1, 6), Mul(in(-1, 1, 2, 5), Const([]float64{0, 1, 1, 1, 0})))}
		}})
	convolveTapsOp = register(&Op{Name: "convolve_taps", Arity: 3, kind: compiler.Step, Smooth: true, lift: convolveTapsRows.lift,
		vjp: func(g, y *Node, x []*Node) []*Node {
			how := y.attr[0] &^ constantZeros
			if how != y.attr[0] {
				g = Where(NotEqual(x[2], Scalar(0)), g, Scalar(0))
			}
			return []*Node{convolve(x[1], g, how^reversedKernel), convolve(x[0], g, how), nil}
		},
		run:    func(c *cpu.Call) error { return c.Each(runConvolveTaps[float64], runConvolveTaps[float32]) },
		device: cuda.ConvolveTaps,
		Sample: func(in Source) []*Node {
			return []*Node{convolveTaps(in(-1, 1, 2, 6), in(-1, 1, 6), Const([]float64{1, 0, 1}), 0),
				convolveTaps(in(-1, 1, 4), in(-1, 1, 4), Const([]float64{0, 1, 2, 1, 0}), reversedKernel|constantZeros)}
		}})
}

// shiftOf returns how far tap j of a kernel reads from the element that it gives.
func shiftOf(j, taps, how int) int {
	if how&reversedKernel != 0 {
		return j - taps/2
	}
	return taps/2 - j
}

// convolveTile is a number of elements that stay in the first-level cache while all taps pass.
const convolveTile = 1024

func runConvolve[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	n, taps := last(c.Shape), last(c.InShape[1])
	return convolveRows.each(c, taps*n, func(at []int) func(hand, from, to int) {
		mul, fma := cpu.Scaled[T](c), cpu.FMA[T](c, true)
		return func(_, from, to int) {
			for r := from; r < to; r++ {
				x, w, y := in[0][at[2*r]:], in[1][at[2*r+1]:at[2*r+1]+taps], out[r*n:(r+1)*n]
				first, end := 0, taps
				for first < end && w[first] == 0 {
					first++
				}
				for end > first && w[end-1] == 0 {
					end--
				}
				for begin := 0; begin < n; begin += convolveTile {
					stop := min(n, begin+convolveTile)
					mul(&y[begin], &x[begin], &w[taps/2], stop-begin)
					for j := first; j < end; j++ {
						d := shiftOf(j, taps, c.Attr[0])
						lo, hi := overlap(n, d)
						if lo, hi = max(lo, begin), min(hi, stop); lo < hi && d != 0 {
							fma(&y[lo], &x[lo+d], &w[j], &y[lo], hi-lo)
						}
					}
				}
			}
		}
	})
}

func runConvolveTaps[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	taps, n := last(c.Shape), last(c.InShape[0])
	return convolveTapsRows.each(c, taps*n, func(at []int) func(hand, from, to int) {
		dot := cpu.Dot[T](c)
		return func(_, from, to int) {
			for r := from; r < to; r++ {
				x, g, w, y := in[0][at[3*r]:], in[1][at[3*r+1]:], in[2][at[3*r+2]:], out[r*taps:(r+1)*taps]
				for j := range y {
					d := shiftOf(j, taps, c.Attr[0])
					y[j] = 0
					if lo, hi := overlap(n, d); lo < hi && (w[j] != 0 || c.Attr[0]&constantZeros == 0) {
						y[j] = T(dot(&x[lo+d], &g[lo], hi-lo))
					}
				}
			}
		}
	})
}
