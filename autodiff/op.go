// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"slices"
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// Op describes one operation: everything that this package knows about it.
type Op struct {
	Name   string
	Arity  int      // number of inputs; -1 if it varies
	Domain Interval // range in which checks may draw inputs
	// CUDA is the elementwise function as a C expression of x, y and z, and Helper is C text that
	// must precede it.
	CUDA, Helper string
	// Double makes a device compute in float64 even in programs in float32, because float would
	// lose digits.
	Double bool
	// Smooth reports whether the second derivative exists and is checked. It is false for steps,
	// comparisons and rounding.
	Smooth bool
	// Sample makes Nodes that use the operation on the inputs it is given, for
	// the checks that walk the registry. Elementwise operations have one by default.
	Sample func(in Source) []*Node

	kind   compiler.Kind
	code   compiler.Code              // code of an operation that the compiler itself knows
	kernel string                     // name of its kernel in package kernels
	f2     func(x, y float64) float64 // function by which a reduction or a scan combines two numbers
	vjp    func(g, y *Node, x []*Node) []*Node
	run    func(c *cpu.Call) error
	device func(s *cuda.Step) bool // makes its CUDA kernels; nil: it runs on the processor
	prim   *compiler.Op            // compiler's record of the operation
	pure   bool                    // whether calls that are equal, obj included, have equal results
	// lift returns n, which applies op to something in a batch, with the batch axis. Default: op
	// applied to inputs that all have that axis.
	lift func(b *batcher, n *Node) *Node
}

// Source makes an input of a check: a new Node of the given shape whose elements lie in the range
// lo..hi.
type Source func(lo, hi float64, shape ...int) *Node

// Interval is a closed range of the real line.
type Interval struct{ Lo, Hi float64 }

// Unary defines an elementwise operation of one input.
type Unary struct {
	Name string // name in errors and in the listing of a program
	// CPU is the function in Go, and CUDA is the same function as a C expression of x.
	CPU  func(x float64) float64
	CUDA string
	// Helper holds the C functions, in double, that CUDA calls. In programs in float32 they become
	// functions of float, unless Double says that digits would be lost.
	Helper string
	Double bool
	// VJP returns the gradient with respect to x from g, the gradient with respect to y = f(x). All have the shape of x, and a
	// result of a shape that was not broadcast from it is an error. It
	// is written with operations, so that it can be differentiated again. VJP is left nil if the gradient is zero
	// everywhere; a VJP that returns nil is an error.
	VJP func(g, y, x *Node) *Node
	// Domain is the range in which checks draw inputs. It must hold more than one number.
	Domain Interval
	// Kernel and Kernel32, if not nil, compute whole slices of the same length, faster than calls of
	// CPU do, in programs in float64 and in float32. The result may be stored in the memory of an
	// input, so element i of y must be written after element i of x has been read for the last time.
	// Inputs must not be written to otherwise.
	Kernel   func(y, x []float64)
	Kernel32 func(y, x []float32)

	code   compiler.Code
	kernel string // name of its kernel in package kernels
}

// Binary defines an elementwise operation of two inputs, which broadcast.
type Binary struct {
	Name   string
	CPU    func(x, y float64) float64 // function in Go
	CUDA   string                     // same function as a C expression of x and y
	Helper string                     // C functions that CUDA calls, as in Unary
	Double bool                       // Double keeps Helper in double, as in Unary.
	// VJP returns the gradients with respect to x and y from g, the gradient with respect to z = f(x, y). All have the shape to which x
	// and y broadcast; the sums over broadcast axes are added. A nil VJP means gradients of zero, and so does a nil dx or dy, but
	// a VJP that returns nil for all inputs is an error.
	VJP         func(g, z, x, y *Node) (dx, dy *Node)
	Domain      Interval                // range in which checks draw inputs
	Commutative bool                    // Commutative says that f(x, y) = f(y, x), which lets programs share results.
	Kernel      func(z, x, y []float64) // function of whole slices, as that of Unary
	Kernel32    func(z, x, y []float32)

	code  compiler.Code
	truth bool // whether results are 0 or 1
	// Forms in package kernels: of two arrays, with one number as y, with one as x.
	kernel, byNumber, numberBy string
}

// Ternary defines an elementwise operation of three inputs, which broadcast.
type Ternary struct {
	Name   string
	CPU    func(x, y, z float64) float64 // function in Go
	CUDA   string                        // same function as a C expression of x, y and z
	Helper string                        // C functions that CUDA calls, as in Unary
	Double bool                          // Double keeps Helper in double, as in Unary.
	// VJP returns the gradients with respect to x, y and z, as that of Binary does. Nil means the same.
	VJP    func(g, x, y, z *Node) (dx, dy, dz *Node)
	Domain Interval // range in which checks draw inputs
	// Kernel and Kernel32 compute whole slices w from x, y and z, as in Unary.
	Kernel   func(w, x, y, z []float64)
	Kernel32 func(w, x, y, z []float32)

	code   compiler.Code
	kernel string // name of its kernel in package kernels
}

var (
	registry   []*Op
	registryMu sync.Mutex
)

// Ops returns every operation, in the order of definition. Checks, documents, benchmarks and
// bridges go through this list, so a new operation needs no other.
func Ops() []*Op {
	registryMu.Lock()
	defer registryMu.Unlock()
	return append([]*Op(nil), registry...)
}

// IsElementwise reports whether the operation works element by element.
func (op *Op) IsElementwise() bool { return op.kind == compiler.Elementwise }

// Differentiable reports whether any input has a gradient.
func (op *Op) Differentiable() bool { return op.vjp != nil }

// Apply makes the Node op(in...) of an elementwise operation.
func (op *Op) Apply(in ...*Node) *Node {
	if op.kind != compiler.Elementwise || len(in) != op.Arity {
		return mistake(op.Name, "Apply needs an elementwise operation with %d inputs, but was given %d: pass one Node for each input", op.Arity, len(in))
	}
	return apply(op, in...)
}

// Eval returns the value of the elementwise function at one point.
func (op *Op) Eval(x ...float64) float64 {
	return op.prim.Eval(x...)
}

// Define adds the operation to those that graphs can use; Op.Apply makes its Nodes. It is meant for
// init functions, and panics if an operation of that name exists already or the CPU function is
// missing. Package gradtest checks the definition.
func (d Unary) Define() *Op {
	whole(d.Name, d.CPU != nil)
	op := &Op{Name: d.Name, Arity: 1, Domain: d.Domain, CUDA: d.CUDA, Helper: d.Helper, Double: d.Double, Smooth: d.VJP != nil,
		prim: &compiler.Op{Code: d.code, F1: d.CPU, Slices: [2]any{d.Kernel, d.Kernel32}, Kernel: d.kernel}}
	if d.VJP != nil {
		op.vjp = func(g, y *Node, x []*Node) []*Node { return withGradient(d.Name, d.VJP(g, y, x[0])) }
	}
	return register(op)
}

// Define adds the operation to those that graphs can use, as Unary.Define does.
func (d Binary) Define() *Op {
	whole(d.Name, d.CPU != nil)
	op := &Op{Name: d.Name, Arity: 2, Domain: d.Domain, CUDA: d.CUDA, Helper: d.Helper, Double: d.Double, Smooth: d.VJP != nil,
		prim: &compiler.Op{Code: d.code, F2: d.CPU, Slices: [2]any{d.Kernel, d.Kernel32}, Commutative: d.Commutative, Kernel: d.kernel, ByNumber: d.byNumber, NumberBy: d.numberBy, Truth: d.truth}}
	if d.VJP != nil {
		op.vjp = func(g, z *Node, x []*Node) []*Node {
			dx, dy := d.VJP(g, z, x[0], x[1])
			return withGradient(d.Name, dx, dy)
		}
	}
	return register(op)
}

// Define adds the operation to those that graphs can use, as Unary.Define does.
func (d Ternary) Define() *Op {
	whole(d.Name, d.CPU != nil)
	op := &Op{Name: d.Name, Arity: 3, Domain: d.Domain, CUDA: d.CUDA, Helper: d.Helper, Double: d.Double, Smooth: d.VJP != nil,
		prim: &compiler.Op{Code: d.code, F3: d.CPU, Slices: [2]any{d.Kernel, d.Kernel32}, Kernel: d.kernel}}
	if d.VJP != nil {
		op.vjp = func(g, _ *Node, x []*Node) []*Node {
			dx, dy, dz := d.VJP(g, x[0], x[1], x[2])
			return withGradient(d.Name, dx, dy, dz)
		}
	}
	return register(op)
}

// withGradient returns what a VJP returned, of which one must not be nil: an operation without a gradient has no VJP.
func withGradient(name string, d ...*Node) []*Node {
	if slices.ContainsFunc(d, func(n *Node) bool { return n != nil }) {
		return d
	}
	return repeat(mistake(name, "its VJP returns nil: return the gradient, or set no VJP if the gradient is zero everywhere"), len(d))
}

// whole refuses definitions without a name or a function.
func whole(name string, hasFunction bool) {
	if name == "" || !hasFunction {
		panic(fmt.Sprintf("autodiff: the definition of operation %q lacks its name or its CPU function", name))
	}
}

// compiled makes op known to the compiler.
func compiled(op *Op) *Op {
	if op.prim == nil {
		op.prim = &compiler.Op{Code: op.code, F2: op.f2, Kernel: op.kernel}
	}
	op.prim.Name, op.prim.Arity, op.prim.Kind = op.Name, op.Arity, op.kind
	op.prim.C, op.prim.Helper, op.prim.Double, op.prim.Pure = op.CUDA, op.Helper, op.Double, op.pure
	op.prim.Define()
	if op.run != nil {
		cpu.Steps[op.prim] = op.run
	}
	if op.device != nil {
		cuda.Steps[op.prim] = op.device
	}
	return op
}

// register adds op to the list that checks and bridges walk.
func register(op *Op) *Op {
	compiled(op)
	if op.kind == compiler.Elementwise && op.Sample == nil {
		op.Sample = func(in Source) []*Node {
			x := make([]*Node, op.Arity)
			for i := range x {
				x[i] = in(op.Domain.Lo, op.Domain.Hi, 4)
			}
			return []*Node{apply(op, x...)}
		}
	}
	registryMu.Lock()
	defer registryMu.Unlock()
	for _, other := range registry {
		if other.Name == op.Name {
			panic(fmt.Sprintf("autodiff: there is an operation %q already: give yours a name of its own", op.Name))
		}
	}
	registry = append(registry, op)
	return op
}

// apply makes the Node op(in...) of an elementwise op; its shape is the
// broadcast of the inputs' shapes.
func apply(op *Op, in ...*Node) *Node {
	if bad := notReal(op.Name, in...); bad != nil {
		return bad
	}
	shape := in[0].shape
	for _, x := range in {
		s, ok := tensor.Broadcast(shape, x.shape)
		if !ok {
			return failed(&tensor.ShapeError{Op: op.Name, Got: shapesOf(in), Want: "shapes that broadcast: equal lengths or 1, matched from the last axis"})
		}
		shape = s
	}
	return newNode(op, shape, in...)
}

func shapesOf(in []*Node) []tensor.Shape {
	s := make([]tensor.Shape, len(in))
	for i, x := range in {
		s[i] = x.shape
	}
	return s
}
