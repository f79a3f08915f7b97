// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	device "github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// Custom is an operation too large for a graph of small ones, such as a simulator or an opaque step
// of another library. Its functions work on whole row-major arrays in float64 and must not retain
// them.
type Custom struct {
	Name string
	// Shape returns the shape of the result.
	Shape func(in ...tensor.Shape) (tensor.Shape, error)
	// Forward computes out.
	Forward func(out []float64, in ...[]float64) error
	// Adjoint computes dIn[i], the gradient with respect to input i, from g, the gradient with
	// respect to out. Nil means no gradient, unless VJP is given.
	Adjoint func(dIn [][]float64, g, out []float64, in ...[]float64) error
	// VJP returns the gradients as Nodes instead, for gradients of any order.
	VJP func(g, y *Node, x []*Node) []*Node
	// OnDevice makes the form of the operation for a GPU, in a program whose reals have some bits, 32 or 64, and for
	// inputs of these shapes. Without it, and where it returns nil, the operation runs on the
	// processor, with copies in between. Compile calls it first, and then each further State does, so a
	// DeviceStep should take memory when it is first used. Not for batched inputs, which the processor does.
	OnDevice func(d *device.Device, bits int, in []tensor.Shape) (DeviceStep, error)
}

// DeviceStep puts the work of a Custom on a stream of a GPU. Arrays are row-major in the precision of the
// program, begin at any of its numbers, and belong to the program: a step must not keep them. One
// DeviceStep serves one place in a program and one State, one call at a time. Its calls are not captured in
// graphs, so they may wait.
type DeviceStep interface {
	// Forward computes out.
	Forward(s *device.Stream, out device.Part, in []device.Part) error
	// Adjoint computes dIn[i], the gradient with respect to input i, from g, the gradient with respect to
	// out. The same Run has called Forward with the same inputs before, so it may use what that left on the
	// device.
	Adjoint(s *device.Stream, dIn []device.Part, g, out device.Part, in []device.Part) error
}

// Call makes the Node c(in...).
//
// Gradient: by c.VJP, else by c.Adjoint (first order only).
func Call(c *Custom, in ...*Node) *Node {
	if c == nil || c.Shape == nil {
		return mistake("call", "the custom operation has no Shape: set this function")
	}
	if bad := notReal(c.Name, in...); bad != nil {
		return bad
	}
	s, err := c.Shape(shapesOf(in)...)
	if err == nil && anyNegative(s) {
		err = fmt.Errorf("Shape returned %v for inputs of shapes %v: want lengths of at least 0", s, shapesOf(in))
	}
	if err == nil && c.Forward == nil {
		err = errors.New("the operation has no Forward: set this function")
	}
	if err != nil {
		return failed(fmt.Errorf("autodiff: %s: %w", c.Name, err))
	}
	n := newNode(customOp, s, in...)
	n.obj = c
	return n
}

var customOp, customAdjointOp *Op

// ErrNoGradient is returned by a run that needs the gradient of a Custom without one.
var ErrNoGradient = errors.New("autodiff: the operation has no gradient of this order: set VJP, or Adjoint for first order")

func init() {
	customOp = register(&Op{Name: "custom", Arity: -1, kind: compiler.Step, lift: (*batcher).lanes,
		vjp: func(g, y *Node, x []*Node) []*Node {
			c := y.obj.(*Custom)
			switch {
			case c.VJP != nil:
				return c.VJP(g, y, x)
			case c.Adjoint != nil:
				return adjointNodes(g, y, x)
			}
			return make([]*Node, len(x))
		},
		device: customOnDevice,
		run: func(c *cpu.Call) error {
			f := c.Obj.(*Custom)
			out, in := c.AsFloat64()
			if err := f.Forward(out, in...); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			c.StoreFloat64()
			return nil
		}})
	customAdjointOp = register(&Op{Name: "custom_adjoint", Arity: -1, kind: compiler.Step, lift: (*batcher).lanes,
		vjp: func(_, y *Node, x []*Node) []*Node {
			bad := mistake(y.obj.(*Custom).Name, "there is no second derivative: set VJP instead of Adjoint")
			return repeat(bad, len(x))
		},
		device: cuda.ExternalAdjoint,
		run:    func(c *cpu.Call) error { return runAdjoint(c) }})
}

// customOnDevice makes a Custom a step on the device if it has a form for it.
func customOnDevice(s *cuda.Step) bool {
	f := s.Obj.(*Custom)
	if f.OnDevice == nil {
		return false
	}
	in := make([]tensor.Shape, len(s.Value.In))
	for k := range in {
		in[k] = s.InShape(k)
	}
	return cuda.ExternalForward(s, f.Name, func(d *device.Device, bits int) (cuda.External, error) {
		step, err := f.OnDevice(d, bits, in)
		if err != nil || step == nil {
			return nil, err
		}
		return step, nil
	})
}

// adjointNodes computes all gradients in one step, as one vector, and splits it.
func adjointNodes(g, y *Node, x []*Node) []*Node {
	total := 0
	for _, v := range x {
		total += v.Size()
	}
	all := newNode(customAdjointOp, tensor.Shape{total}, append([]*Node{g, y}, x...)...)
	all.obj = y.obj
	out, at := make([]*Node, len(x)), 0
	for i, v := range x {
		out[i] = Reshape(Slice(all, 0, at, at+v.Size()), v.shape...)
		at += v.Size()
	}
	return out
}

func runAdjoint(c *cpu.Call) error {
	f := c.Obj.(*Custom)
	out, in := c.AsFloat64()
	if c.Parts == nil {
		c.Parts = make([][]float64, len(in)-2)
	}
	at := 0
	for i := range c.Parts {
		n := len(in[i+2])
		c.Parts[i] = out[at : at+n : at+n]
		at += n
	}
	if err := f.Adjoint(c.Parts, in[0], in[1], in[2:]...); err != nil {
		return fmt.Errorf("gradient of %s: %w", f.Name, err)
	}
	c.StoreFloat64()
	return nil
}
