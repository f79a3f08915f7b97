// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/tensor"
)

// Node is one value of a graph. It is immutable and safe for concurrent use.
type Node struct {
	op    *Op // operation; nil for a leaf
	in    []*Node
	shape tensor.Shape
	attr  []int // axes, permutation, slice bounds or the like, depending on the Op
	obj   any   // attributes that do not fit attr; comparable
	data  []float64
	ints  []int64 // elements of an integer constant
	isInt bool
	name  string
	id    uint64 // number that increases with creation, so that inputs have smaller ids
	err   error
}

var lastID atomic.Uint64

// countable is the text of the requirement on every shape.
const countable = "lengths of at least 0, and elements that can be counted"

func newNode(op *Op, shape tensor.Shape, in ...*Node) *Node {
	n := &Node{op: op, in: in, shape: shape, id: lastID.Add(1)}
	if !shape.Valid() {
		name := "input"
		if op != nil {
			name = op.Name
		}
		n.err = located(&tensor.ShapeError{Op: name, Got: []tensor.Shape{shape}, Want: countable})
		n.shape = tensor.Shape{}
	}
	return n
}

// Const makes a constant with the given shape; without lengths it is a vector. The Node shares
// data, which must not be changed afterwards.
func Const(data []float64, shape ...int) *Node {
	s := tensor.Shape(shape)
	if len(s) == 0 {
		s = tensor.Shape{len(data)}
	}
	n := newNode(nil, s)
	n.data = data
	if s.Size() != len(data) || anyNegative(s) {
		return failed(&tensor.ShapeError{Op: "const", Got: []tensor.Shape{s}, Want: fmt.Sprintf("%d elements", len(data))})
	}
	return n
}

// Scalar makes a constant without axes.
func Scalar(v float64) *Node {
	n := newNode(nil, tensor.Shape{})
	n.data = []float64{v}
	return n
}

// Full makes a constant of the given shape in which every element is v.
func Full(v float64, shape ...int) *Node { return Broadcast(Scalar(v), shape...) }

// Ints makes a constant of indices with the given shape; without lengths it is a vector.
func Ints(data []int, shape ...int) *Node {
	s := tensor.Shape(shape)
	if len(s) == 0 {
		s = tensor.Shape{len(data)}
	}
	n := newNode(nil, s)
	n.isInt = true
	n.ints = make([]int64, len(data))
	for i, v := range data {
		n.ints[i] = int64(v)
	}
	if s.Size() != len(data) || anyNegative(s) {
		return failed(&tensor.ShapeError{Op: "ints", Got: []tensor.Shape{s}, Want: fmt.Sprintf("%d elements", len(data))})
	}
	return n
}

// Input makes a leaf whose elements are set before each run.
func Input(name string, shape ...int) *Node {
	if !tensor.Shape(shape).Valid() {
		return failed(&tensor.ShapeError{Op: "input " + name, Got: []tensor.Shape{shape}, Want: countable})
	}
	n := newNode(nil, tensor.Shape(shape).Clone())
	n.name = name
	return n
}

// IntInput makes a leaf of indices that are set before each run.
func IntInput(name string, shape ...int) *Node {
	n := Input(name, shape...)
	n.isInt = true
	return n
}

// Shape returns the lengths of the axes.
func (n *Node) Shape() tensor.Shape { return n.shape }

// Size returns the number of elements.
func (n *Node) Size() int { return n.shape.Size() }

// Err returns the first mistake in n and in everything it was made from.
func (n *Node) Err() error { return n.err }

// Name returns the name given by Input or Named.
func (n *Node) Name() string { return n.name }

// Op returns the operation that made n, or nil for a leaf.
func (n *Node) Op() *Op { return n.op }

// In returns the inputs of n's operation.
func (n *Node) In() []*Node { return n.in }

// IsInt reports whether the elements are indices.
func (n *Node) IsInt() bool { return n.isInt }

// IsConst reports whether n is a constant leaf.
func (n *Node) IsConst() bool { return n.op == nil && (n.data != nil || n.ints != nil) }

// Numbers returns the elements of a constant, which must not be changed. It is nil for other Nodes, and for indices.
func (n *Node) Numbers() []float64 {
	if n.op != nil {
		return nil
	}
	return n.data
}

// isInput reports whether n is a leaf that runs fill.
func (n *Node) isInput() bool { return n.op == nil && n.data == nil && n.ints == nil }

// Named gives n a name, which messages, GradCheckpoint and listings use, and returns n.
func (n *Node) Named(name string) *Node {
	n.name = name
	return n
}

// String describes n by its name or operation, and its shape.
func (n *Node) String() string {
	switch {
	case n.err != nil:
		return "error: " + n.err.Error()
	case n.name != "":
		return fmt.Sprintf("%s%v", n.name, []int(n.shape))
	case n.op != nil:
		return fmt.Sprintf("%s%v", n.op.Name, []int(n.shape))
	}
	return fmt.Sprintf("const%v", []int(n.shape))
}

func anyNegative(s []int) bool {
	for _, d := range s {
		if d < 0 {
			return true
		}
	}
	return false
}

// Fail returns a Node that carries err together with the caller's file and line. It is meant for
// functions of other packages that return Nodes and detect a mistake in their arguments.
func Fail(err error) *Node {
	if err == nil {
		return mistake("fail", "Fail was given a nil error: pass the error to carry")
	}
	return failed(err)
}

// failed returns a Node that carries err, located at the caller outside this package.
func failed(err error) *Node {
	n := newNode(nil, tensor.Shape{})
	n.err = located(err)
	return n
}

// mistake returns a Node that carries an error about op's arguments.
func mistake(op string, format string, a ...any) *Node {
	return failed(fmt.Errorf("autodiff: %s: %s", op, fmt.Sprintf(format, a...)))
}

// firstErr returns a Node carrying the first mistake among in, or nil.
func firstErr(in ...*Node) *Node {
	for _, x := range in {
		if x == nil {
			return mistake("graph", "an input is nil: make it with Input, Const or an operation")
		}
		if x.err != nil {
			return x
		}
	}
	return nil
}

// notReal returns a Node carrying the first mistake among in, or that an input of
// op holds indices, or nil.
func notReal(op string, in ...*Node) *Node {
	if bad := firstErr(in...); bad != nil {
		return bad
	}
	for _, x := range in {
		if x.isInt {
			return mistake(op, "input %v holds indices: convert it with Float", x)
		}
	}
	return nil
}

func init() { given.BuildsGraphs() }

// placed is an error with the file and the line of the caller that made the mistake.
type placed struct {
	where string
	error
}

func (p *placed) Error() string { return p.where + ": " + p.error.Error() }
func (p *placed) Unwrap() error { return p.error }

// located adds the first caller outside the packages that build graphs to err, unless it has one.
func located(err error) error {
	if p := (*placed)(nil); errors.As(err, &p) {
		return err
	}
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc)])
	for {
		f, more := frames.Next()
		if !given.IsBuilder(f.Function) || strings.HasSuffix(f.File, "_test.go") {
			return &placed{fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line), err}
		}
		if !more {
			return err
		}
	}
}
