// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// Complex returns re + i im, which broadcast: real arrays as one of complex
// numbers, with a last axis of length 2. Gradient: the parts of g.
func Complex(re, im *Node) *Node {
	if bad := notReal("complex", re, im); bad != nil {
		return bad
	}
	s, ok := tensor.Broadcast(re.shape, im.shape)
	if !ok {
		return failed(&tensor.ShapeError{Op: "complex", Got: shapesOf([]*Node{re, im}), Want: "shapes that broadcast: equal lengths or 1, matched from the last axis"})
	}
	return Stack(-1, Broadcast(re, s...), Broadcast(im, s...))
}

// Real returns the real parts of the complex x. Gradient: g as real parts.
func Real(x *Node) *Node { return part(x, 0) }

// Imag returns the imaginary parts of the complex x. Gradient: g as imaginary parts.
func Imag(x *Node) *Node { return part(x, 1) }

// Conj returns the conjugates of the complex x. Gradient: conj g.
func Conj(x *Node) *Node {
	if bad := notComplex("conj", x); bad != nil {
		return bad
	}
	return Mul(x, Const([]float64{1, -1}))
}

// CMul returns the products of the complex x and y, which broadcast. Gradients:
// g conj(y) and g conj(x).
func CMul(x, y *Node) *Node { return complexPair("cmul", x, y, cmulOp, 0) }

// CScale returns the complex x times the real y, which broadcast. Gradients: g y
// and Re(g conj(x)).
func CScale(x, y *Node) *Node {
	if bad := notComplex("cscale", x); bad != nil {
		return bad
	}
	if bad := notReal("cscale", y); bad != nil {
		return bad
	}
	s, ok := tensor.Broadcast(lead(x, 1), y.shape)
	if !ok {
		return failed(&tensor.ShapeError{Op: "cscale", Got: shapesOf([]*Node{x, y}), Want: "shapes that broadcast once the last axis of the first is dropped"})
	}
	full := append(s.Clone(), 2)
	return newNode(cscaleOp, full, Broadcast(x, full...), Broadcast(y, s...))
}

// CDot returns Re(x conj(y)) of the complex x and y, which broadcast: x_re y_re +
// x_im y_im. Gradients: g y and g x.
func CDot(x, y *Node) *Node { return complexPair("cdot", x, y, cdotOp) }

// Abs2 returns |x|^2 of the complex x. Gradient: 2 g x.
func Abs2(x *Node) *Node { return CDot(x, x) }

// complexPair makes the Node of an operation on two complex arrays that broadcast.
func complexPair(name string, x, y *Node, op *Op, attr ...int) *Node {
	if bad := notComplex(name, x, y); bad != nil {
		return bad
	}
	s, ok := tensor.Broadcast(x.shape, y.shape)
	if !ok {
		return failed(&tensor.ShapeError{Op: name, Got: shapesOf([]*Node{x, y}), Want: "shapes that broadcast: equal lengths or 1, matched from the last axis"})
	}
	out := s
	if op == cdotOp {
		out = s[:len(s)-1].Clone()
	}
	z := newNode(op, out, Broadcast(x, s...), Broadcast(y, s...))
	z.attr = attr
	return z
}

var cmulOp, cscaleOp, cdotOp *Op

func init() {
	// attr: 1 for x conj(y) instead of x y.
	cmulOp = register(&Op{Name: "cmul", Arity: 2, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp: func(g, z *Node, in []*Node) []*Node {
			x, y := in[0], in[1]
			if z.attr[0] == 1 {
				return []*Node{complexPair("cmul", g, y, cmulOp, 0), complexPair("cmul", x, g, cmulOp, 1)}
			}
			return []*Node{complexPair("cmul", g, y, cmulOp, 1), complexPair("cmul", g, x, cmulOp, 1)}
		},
		run:    complexProduct,
		device: cuda.ComplexProduct,
		Sample: func(in Source) []*Node {
			x, y := in(-2, 2, 2, 3, 2), in(-2, 2, 3, 2)
			return []*Node{CMul(x, y), complexPair("cmul", y, x, cmulOp, 1)}
		}})
	cscaleOp = register(&Op{Name: "cscale", Arity: 2, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp:    func(g, _ *Node, in []*Node) []*Node { return []*Node{CScale(g, in[1]), CDot(g, in[0])} },
		run:    func(c *cpu.Call) error { return c.Each(complexScaled[float64], complexScaled[float32]) },
		device: cuda.ComplexScale,
		Sample: func(in Source) []*Node {
			return []*Node{CScale(in(-2, 2, 2, 3, 2), in(-2, 2, 3)), CScale(in(-2, 2, 1, 2), in(-2, 2, 4, 3))}
		}})
	cdotOp = register(&Op{Name: "cdot", Arity: 2, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp:    func(g, _ *Node, in []*Node) []*Node { return []*Node{CScale(in[1], g), CScale(in[0], g)} },
		run:    func(c *cpu.Call) error { return c.Each(complexDot[float64], complexDot[float32]) },
		device: cuda.ComplexDot,
		Sample: func(in Source) []*Node {
			return []*Node{CDot(in(-2, 2, 2, 3, 2), in(-2, 2, 3, 2)), Abs2(in(-2, 2, 5, 2))}
		}})
}

func complexProduct(c *cpu.Call) error {
	conj := c.Attr[0] == 1
	switch {
	case len(c.Out32) > 0:
		kernels.ComplexProduct32(c.Level, conj)(&c.Out32[0], &c.In32[0][0], &c.In32[1][0], len(c.Out32))
	case len(c.Out64) > 0:
		kernels.ComplexProduct64(c.Level, conj)(&c.Out64[0], &c.In64[0][0], &c.In64[1][0], len(c.Out64))
	}
	return nil
}

func complexScaled[T cpu.Real](_ *cpu.Call, out []T, in [][]T) error {
	x := in[0][:len(out)]
	for i, v := range in[1] {
		out[2*i], out[2*i+1] = v*x[2*i], v*x[2*i+1]
	}
	return nil
}

func complexDot[T cpu.Real](_ *cpu.Call, out []T, in [][]T) error {
	x, y := in[0][:2*len(out)], in[1][:2*len(out)]
	for i := range out {
		out[i] = x[2*i]*y[2*i] + x[2*i+1]*y[2*i+1]
	}
	return nil
}

// CExp returns exp(i phase) of the real phase. Gradient: Re(-i conj(y) g).
func CExp(phase *Node) *Node { return Complex(Cos(phase), Sin(phase)) }

func part(x *Node, i int) *Node {
	if bad := notComplex("part", x); bad != nil {
		return bad
	}
	return Index(x, -1, i)
}

// notComplex returns a Node with the mistake if one of xs is not complex.
func notComplex(op string, xs ...*Node) *Node {
	if bad := notReal(op, xs...); bad != nil {
		return bad
	}
	for _, x := range xs {
		if k := len(x.shape); k == 0 || x.shape[k-1] != 2 {
			return failed(&tensor.ShapeError{Op: op, Got: []tensor.Shape{x.shape}, Want: "a last axis of length 2 for the real and imaginary parts; make one with Complex"})
		}
	}
	return nil
}
