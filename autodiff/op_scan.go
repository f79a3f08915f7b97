// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// LinearScan returns the linear recurrence along one axis, element by element of the others, as one
// operation:
//
//	h_t = a_t h_(t-1) + b_t
//
// It starts from init, which does not have that axis, or from 0 if init is nil; with reverse it
// runs from the end. All arrays broadcast to the shape of a + b. Sums are float64 in every
// precision. Gradient: the recurrence in the other direction, u_t = g_t + a_(t+1) u_(t+1); ga = u
// h_(t-1), gb = u, ginit = a_0 u_0.
func LinearScan(a, b, init *Node, axis int, reverse bool) *Node {
	if bad := notReal("linear_scan", a, b); bad != nil {
		return bad
	}
	s, ok := tensor.Broadcast(a.shape, b.shape)
	if !ok {
		return failed(&tensor.ShapeError{Op: "linear_scan", Got: []tensor.Shape{a.shape, b.shape}, Want: "shapes that broadcast"})
	}
	ax, bad := axisIn("linear_scan", s, axis)
	if bad != nil {
		return bad
	}
	in := []*Node{Broadcast(a, s...), Broadcast(b, s...)}
	if init != nil {
		in = append(in, Broadcast(init, compiler.WithoutAxes(s, []int{ax})...))
	}
	return scan(linearScanOp, ax, reverse, in...)
}

// Delay moves x by one element along an axis: y_0 = init, y_t = x_(t-1). With reverse it moves the
// other way. init does not have that axis and is broadcast. Gradient: moved back.
func Delay(x, init *Node, axis int, reverse bool) *Node {
	if bad := notReal("delay", x, init); bad != nil {
		return bad
	}
	ax, ok := axisOf(axis, len(x.shape))
	if !ok || x.shape[ax] == 0 {
		return mistake("delay", "axis %d of shape %v does not exist or is empty: want an axis with elements", axis, x.shape)
	}
	return scan(delayOp, ax, reverse, x, Broadcast(init, compiler.WithoutAxes(x.shape, []int{ax})...))
}

func scan(op *Op, ax int, reverse bool, in ...*Node) *Node {
	if bad := notReal(op.Name, in...); bad != nil {
		return bad
	}
	y := newNode(op, in[0].shape, in...)
	y.attr = []int{ax, int(truth(reverse))}
	return y
}

// end returns the first element along an axis, or the last.
func end(x *Node, ax int, last bool) *Node {
	if last {
		return Index(x, ax, x.shape[ax]-1)
	}
	return Index(x, ax, 0)
}

var linearScanOp, delayOp *Op

func init() {
	linearScanOp = register(&Op{Name: "linear_scan", Arity: -1, kind: compiler.Step, Smooth: true,
		vjp: func(g, h *Node, x []*Node) []*Node {
			ax, reverse := h.attr[0], h.attr[1] == 1
			if h.shape[ax] == 0 {
				return make([]*Node, len(x))
			}
			u := LinearScan(Delay(x[0], Scalar(0), ax, !reverse), g, nil, ax, !reverse)
			if len(x) == 2 {
				return []*Node{Mul(u, Delay(h, Scalar(0), ax, reverse)), u}
			}
			return []*Node{Mul(u, Delay(h, x[2], ax, reverse)), u, Mul(end(x[0], ax, reverse), end(u, ax, reverse))}
		},
		run:    func(c *cpu.Call) error { return c.Each(runLinearScan[float64], runLinearScan[float32]) },
		device: cuda.LinearScan,
		Sample: func(in Source) []*Node {
			return []*Node{LinearScan(in(-1, 1, 5), in(-1, 1, 5), in(-1, 1), 0, false), LinearScan(in(-1, 1, 3, 1), in(-1, 1, 2, 3, 2), in(-1, 1, 2, 2), 1, true),
				LinearScan(in(-1, 1), in(-1, 1, 4, 2), nil, 0, false)}
		}})
	delayOp = register(&Op{Name: "delay", Arity: 2, kind: compiler.Step, Smooth: true,
		vjp: func(g, y *Node, _ []*Node) []*Node {
			ax, reverse := y.attr[0], y.attr[1] == 1
			return []*Node{Delay(g, Scalar(0), ax, !reverse), end(g, ax, reverse)}
		},
		run:    func(c *cpu.Call) error { return c.Each(runDelay[float64], runDelay[float32]) },
		device: cuda.Delay,
		Sample: func(in Source) []*Node {
			return []*Node{Delay(in(-1, 1, 4), in(-1, 1), 0, false), Delay(in(-1, 1, 2, 3, 2), in(-1, 1, 2, 2), 1, true)}
		}})
}

// scanned calls f with the position of each slice across the axis, in the order of
// the scan: the slice holds inner elements.
func scanned(c *cpu.Call, f func(o, t, at, inner int)) {
	outer, inner, n := around(c.Shape, c.Attr[0])
	for o := range outer {
		for t := range n {
			k := t
			if len(c.Attr) > 1 && c.Attr[1] == 1 {
				k = n - 1 - t
			}
			f(o, t, (o*n+k)*inner, inner)
		}
	}
}

// state returns float64 scratch memory for the other axes of a scan: two numbers for each element.
func state(c *cpu.Call) (x, y []float64) {
	_, inner, _ := around(c.Shape, c.Attr[0])
	w := cpu.Scratch(c, func() *[]float64 { w := make([]float64, 2*inner); return &w })
	return (*w)[:inner], (*w)[inner:]
}

func runLinearScan[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	h, _ := state(c)
	scanned(c, func(o, t, at, inner int) {
		y, a, b := out[at:at+inner], in[0][at:at+inner], in[1][at:at+inner]
		switch {
		case t > 0:
		case len(in) == 3:
			for j, v := range in[2][o*inner : (o+1)*inner] {
				h[j] = float64(v)
			}
		default: // a_0 is not used: it may be infinite
			for j, v := range b {
				h[j], y[j] = float64(v), v
			}
			return
		}
		for j, v := range h {
			h[j] = float64(a[j])*v + float64(b[j])
			y[j] = T(h[j])
		}
	})
	return nil
}

func runDelay[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	last := 0
	scanned(c, func(o, t, at, inner int) {
		from := in[1][o*inner : (o+1)*inner]
		if t > 0 {
			from = in[0][last : last+inner]
		}
		copy(out[at:at+inner], from)
		last = at
	})
	return nil
}

// Cumprod returns the running products along one axis. Gradient, also right where elements are 0:
// the product before an element times u, where u_t = g_t + x_(t+1) u_(t+1).
func Cumprod(x *Node, axis int) *Node { return running(cumprodOp, x, axis) }

// LogCumsumExp returns log(exp x_0 + ... + exp x_t) along one axis, without
// overflow. Gradient: exp(x_t - y_t) u_t, where u_t = g_t + exp(y_t - y_(t+1)) u_(t+1), and 0 of infinite y_t.
func LogCumsumExp(x *Node, axis int) *Node { return running(logCumsumExpOp, x, axis) }

// Cummax returns the largest element so far along one axis. It is NaN from the first NaN on.
// Gradient: to the first of equal elements.
func Cummax(x *Node, axis int) *Node { return soFar(cumArgmaxOp, x, axis) }

// Cummin returns the smallest element so far along one axis. It is NaN from the first NaN on.
// Gradient: to the first of equal elements.
func Cummin(x *Node, axis int) *Node { return soFar(cumArgminOp, x, axis) }

func running(op *Op, x *Node, axis int) *Node {
	if bad := notReal(op.Name, x); bad != nil {
		return bad
	}
	ax, bad := axisIn(op.Name, x.shape, axis)
	if bad != nil {
		return bad
	}
	return scan(op, ax, false, x)
}

func soFar(op *Op, x *Node, axis int) *Node {
	idx := running(op, x, axis)
	if idx.err != nil {
		return idx
	}
	idx.isInt = true
	return takeAlong(x, idx, idx.attr[0])
}

var cumprodOp, logCumsumExpOp, cumArgmaxOp, cumArgminOp *Op

func init() {
	samples := func(f func(*Node, int) *Node) func(Source) []*Node {
		return func(in Source) []*Node { return []*Node{f(in(-2, 2, 5), 0), f(in(-2, 2, 2, 3, 2), 1)} }
	}
	cumprodOp = register(&Op{Name: "cumprod", Arity: 1, kind: compiler.Step, Smooth: true,
		vjp: func(g, y *Node, x []*Node) []*Node {
			ax := y.attr[0]
			if y.shape[ax] == 0 {
				return []*Node{nil}
			}
			u := LinearScan(Delay(x[0], Scalar(0), ax, true), g, nil, ax, true)
			return []*Node{Mul(Delay(y, Scalar(1), ax, false), u)}
		},
		run:    func(c *cpu.Call) error { return c.Each(runCumprod[float64], runCumprod[float32]) },
		device: cuda.Cumprod,
		Sample: samples(Cumprod)})
	logCumsumExpOp = register(&Op{Name: "log_cumsum_exp", Arity: 1, kind: compiler.Step, Smooth: true,
		vjp: func(g, y *Node, x []*Node) []*Node {
			ax := y.attr[0]
			if y.shape[ax] == 0 {
				return []*Node{nil}
			}
			// Infinite sums move with nothing: differences of them would have no number.
			none, top := Scalar(math.Inf(-1)), Equal(y, Scalar(math.Inf(1)))
			safe := Where(Equal(y, none), Scalar(0), y)
			fall := Exp(Sub(Where(top, none, y), Delay(safe, end(safe, ax, true), ax, true)))
			return []*Node{Mul(Exp(Sub(Where(top, none, x[0]), safe)), LinearScan(fall, g, nil, ax, true))}
		},
		run:    func(c *cpu.Call) error { return c.Each(runLogCumsumExp[float64], runLogCumsumExp[float32]) },
		device: cuda.LogCumsumExp,
		Sample: samples(LogCumsumExp)})
	cumArgmaxOp = register(&Op{Name: "cum_argmax", Arity: 1, kind: compiler.Step, f2: func(x, y float64) float64 { return truth(x > y) },
		run:    func(c *cpu.Call) error { return c.Each(runCumArg[float64], runCumArg[float32]) },
		device: cuda.CumArg("a > b"),
		Sample: samples(Cummax)})
	cumArgminOp = register(&Op{Name: "cum_argmin", Arity: 1, kind: compiler.Step, f2: func(x, y float64) float64 { return truth(x < y) },
		run:    func(c *cpu.Call) error { return c.Each(runCumArg[float64], runCumArg[float32]) },
		device: cuda.CumArg("a < b"),
		Sample: samples(Cummin)})
}

func runCumprod[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	p, _ := state(c)
	scanned(c, func(_, t, at, inner int) {
		for j := range p {
			if t == 0 {
				p[j] = 1
			}
			p[j] *= float64(in[0][at+j])
			out[at+j] = T(p[j])
		}
	})
	return nil
}

// runLogCumsumExp keeps the largest element so far, and the sum relative to it.
func runLogCumsumExp[T cpu.Real](c *cpu.Call, out []T, in [][]T) error {
	top, sum := state(c)
	scanned(c, func(_, t, at, inner int) {
		for j := range top {
			v := float64(in[0][at+j])
			switch m := top[j]; {
			case t == 0:
				top[j], sum[j] = v, 1
			case v == m:
				sum[j]++
			case v < m:
				sum[j] += math.Exp(v - m)
			default:
				top[j], sum[j] = v, sum[j]*math.Exp(m-v)+1
			}
			if out[at+j] = T(top[j] + math.Log(sum[j])); math.IsInf(top[j], -1) {
				out[at+j] = T(top[j])
			}
		}
	})
	return nil
}

func runCumArg[T cpu.Real](c *cpu.Call, _ []T, in [][]T) error {
	outer, inner, n := around(c.Shape, c.Attr[0])
	for o := range outer {
		for j := range inner {
			best := 0
			for k := range n {
				at := o*n*inner + j
				a, b := float64(in[0][at+k*inner]), float64(in[0][at+best*inner])
				if b == b && (a != a || c.Op.F2(a, b) != 0) {
					best = k
				}
				c.OutInts[at+k*inner] = int64(best)
			}
		}
	}
	return nil
}
