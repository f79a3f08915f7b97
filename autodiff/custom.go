// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/given"
	device "github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// Custom is an operation that is too large to be a graph of small ones, such as a simulator or an
// opaque step of another library. Its functions work on whole row-major arrays in float64. Arrays of
// results are zero when a function is called. The functions must not write to the other arrays nor
// retain any, and several goroutines may call them at the same time. An error ends the run; in a
// sampler, an error made by infer.Reject only rejects the point. Package gradtest checks a Custom.
type Custom struct {
	Name string
	// Shape returns the shape of the result.
	Shape func(in ...tensor.Shape) (tensor.Shape, error)
	// Forward computes out, the result, from the inputs.
	Forward func(out []float64, in ...[]float64) error
	// Adjoint computes dIn[i], the gradient with respect to input i, from g, the gradient with
	// respect to out. If it is nil, the operation has no gradient, unless VJP is set: a program that
	// needs the gradient then fails.
	Adjoint func(dIn [][]float64, g, out []float64, in ...[]float64) error
	// Tangent computes dOut, the derivative of the result when each input i moves along dIn[i]. [JVP]
	// needs it beside Adjoint, and so do the Jacobians of least-squares fits. It runs on the
	// processor, also in programs for a GPU.
	Tangent func(dOut []float64, dIn [][]float64, out []float64, in ...[]float64) error
	// VJP returns one gradient for each input as Nodes, of the shape of the input, nil for a gradient of zero, so that gradients
	// of any order exist. It takes precedence over Adjoint. Another number of gradients, or another shape, is an error.
	VJP func(g, y *Node, x []*Node) []*Node
	// OnDevice makes the version of the operation that runs on a GPU, for reals of 32 or 64 bits
	// and inputs of the given shapes. If it is nil, or returns nil, the operation runs on the
	// processor, with copies in between. Compile calls it first and then every further State does,
	// so a DeviceStep should allocate memory only when it is first used. It is not used for batched
	// inputs, which the processor handles.
	OnDevice func(d *device.Device, bits int, in []tensor.Shape) (DeviceStep, error)
}

// DeviceStep puts the work of a Custom on a stream of a GPU. Arrays are row-major in the precision
// of the program, may begin at any element of a buffer, and belong to the program: a step must not
// keep them. One DeviceStep serves one place in a program and one State, with one call at a time.
// Its calls are not captured in graphs, so they may wait.
type DeviceStep interface {
	// Forward computes out, the result, from the inputs.
	Forward(s *device.Stream, out device.Part, in []device.Part) error
	// Adjoint computes dIn[i], the gradient with respect to input i, from g, the gradient with
	// respect to out. Forward has been called before in the same Run with the same inputs, so
	// Adjoint may use what it left on the device.
	Adjoint(s *device.Stream, dIn []device.Part, g, out device.Part, in []device.Part) error
}

// Call makes the Node c(in...).
//
// Gradient: by c.VJP, or else by c.Adjoint, which has derivatives along a direction if c.Tangent is
// set, but no second derivatives.
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

var customOp, customAdjointOp, customTangentOp *Op

// ErrNoGradient is the error of a run that needs the gradient of a Custom without one, or of too
// high an order.
var ErrNoGradient = errors.New("autodiff: the operation has no gradient of this order: set VJP, or Adjoint for first order")

// noSecond returns a Node with the error of a second derivative.
func noSecond(c *Custom) *Node {
	return failed(fmt.Errorf("%w: %s has no second derivative: set VJP instead of Adjoint", ErrNoGradient, c.Name))
}

// guarded calls a function of a Custom, whose panic becomes an error that names it.
func guarded(name string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the function %s of the custom operation %w", name, given.Recovered(r))
		}
	}()
	return f()
}

func init() {
	customOp = register(&Op{Name: "custom", Arity: -1, kind: compiler.Step, lift: (*batcher).lanes,
		vjp: func(g, y *Node, x []*Node) []*Node {
			c := y.obj.(*Custom)
			switch {
			case c.VJP != nil:
				list := c.VJP(g, y, x)
				if len(list) != len(x) {
					return repeat(mistake(c.Name, "its VJP returns %d gradients, but the operation has %d inputs: return one for each, nil for a gradient of zero", len(list), len(x)), len(x))
				}
				return list
			case c.Adjoint != nil:
				return adjointNodes(g, y, x)
			}
			return repeat(failed(fmt.Errorf("%w: %s", ErrNoGradient, c.Name)), len(x))
		},
		device: customOnDevice,
		run: func(c *cpu.Call) error {
			f := c.Obj.(*Custom)
			out, in := c.AsFloat64()
			clear(out)
			if err := guarded("Forward", func() error { return f.Forward(out, in...) }); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
			c.StoreFloat64()
			return nil
		}})
	customAdjointOp = register(&Op{Name: "custom_adjoint", Arity: -1, kind: compiler.Step, lift: (*batcher).lanes,
		vjp: func(v, y *Node, x []*Node) []*Node {
			c := y.obj.(*Custom)
			out := repeat(noSecond(c), len(x))
			// The adjoint is linear in its first input, with the Jacobian's transpose, so its gradient
			// with respect to that input is the Jacobian times v.
			if out[0] = failed(fmt.Errorf("%w: %s has no derivative along a direction, which least squares needs: set Tangent, or VJP instead of Adjoint", ErrNoGradient, c.Name)); c.Tangent != nil {
				out[0] = newNode(customTangentOp, x[0].shape, append([]*Node{v}, x[1:]...)...)
				out[0].obj = c
			}
			return out
		},
		device: cuda.ExternalAdjoint,
		run:    runAdjoint})
	customTangentOp = register(&Op{Name: "custom_tangent", Arity: -1, kind: compiler.Step, lift: (*batcher).lanes,
		vjp: func(_, y *Node, x []*Node) []*Node {
			return repeat(noSecond(y.obj.(*Custom)), len(x))
		},
		run: runTangent})
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

// split cuts the vector all into one part for each of in.
func split(c *cpu.Call, all []float64, in [][]float64) [][]float64 {
	if c.Parts == nil {
		c.Parts = make([][]float64, len(in))
	}
	at := 0
	for i, x := range in {
		c.Parts[i] = all[at : at+len(x) : at+len(x)]
		at += len(x)
	}
	return c.Parts
}

func runAdjoint(c *cpu.Call) error {
	f := c.Obj.(*Custom)
	out, in := c.AsFloat64()
	clear(out)
	parts := split(c, out, in[2:])
	if err := guarded("Adjoint", func() error { return f.Adjoint(parts, in[0], in[1], in[2:]...) }); err != nil {
		return fmt.Errorf("gradient of %s: %w", f.Name, err)
	}
	c.StoreFloat64()
	return nil
}

func runTangent(c *cpu.Call) error {
	f := c.Obj.(*Custom)
	out, in := c.AsFloat64()
	clear(out)
	parts := split(c, in[0], in[2:])
	if err := guarded("Tangent", func() error { return f.Tangent(out, parts, in[1], in[2:]...) }); err != nil {
		return fmt.Errorf("derivative of %s along a direction: %w", f.Name, err)
	}
	c.StoreFloat64()
	return nil
}
