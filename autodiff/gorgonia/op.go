// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"
	"hash"
	"hash/fnv"
	"sync"
	"sync/atomic"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Op is a compiled function as an operation of Gorgonia: a simulator, a likelihood, or anything
// else built with autodiff. gorgonia.Grad, TapeMachine, LispMachine and the solvers treat it as one
// of their own, and Import turns it back into Nodes.
//
// Gradient: by autodiff's rules, computed once for all inputs. An Op serves one goroutine at a
// time.
type Op struct {
	name string
	id   uint64
	out  *ad.Node
	in   []*ad.Node
	g    *ad.Node   // gradient of out, an input of the gradient program
	grad []*ad.Node // gradients of the inputs; nil for indices

	mu   sync.Mutex
	diff bool // whether some graph differentiates the function
	by   map[gt.Dtype]*runner
}

var (
	_      G.SDOp = (*Op)(nil)
	_      G.ADOp = (*Op)(nil)
	lastOp atomic.Uint64
)

// NewOp compiles out as a function of inputs, Nodes made by autodiff.Input or IntInput. It returns
// an error if there is a mistake in the graph, or if out depends on an input that is not listed.
//
// Apply takes float64 or float32 nodes of the inputs' shapes, int nodes for IntInput.
func NewOp(name string, out *ad.Node, inputs ...*ad.Node) (*Op, error) {
	if out == nil || out.IsInt() {
		return nil, fmt.Errorf("gorgonia: op %s: the output is %v: want a Node of reals", name, out)
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("gorgonia: op %s: there are no inputs, by which Gorgonia finds the graph: pass at least one", name)
	}
	p, err := ad.Compile([]*ad.Node{out}, ad.Settings{Inputs: inputs})
	if err != nil {
		return nil, fmt.Errorf("gorgonia: op %s: %w", name, err)
	}
	if all := p.Inputs(); len(all) > len(inputs) {
		return nil, fmt.Errorf("gorgonia: op %s: the output also depends on %v: list it among the inputs", name, all[len(inputs)])
	}
	o := &Op{name: name, id: lastOp.Add(1), out: out, in: inputs, g: ad.Input("g", out.Shape()...), by: map[gt.Dtype]*runner{}}
	return o, o.differentiate()
}

// differentiate makes the gradients of the real inputs.
func (o *Op) differentiate() error {
	var reals []*ad.Node
	for _, x := range o.in {
		if !x.IsInt() {
			reals = append(reals, x)
		}
	}
	grads := ad.VJP(o.out, o.g, reals...)
	o.grad = make([]*ad.Node, len(o.in))
	for i, x := range o.in {
		if x.IsInt() {
			continue
		}
		o.grad[i], grads = grads[0], grads[1:]
		if err := o.grad[i].Err(); err != nil {
			return fmt.Errorf("gorgonia: op %s: gradient of %v: %w", o.name, x, err)
		}
	}
	return nil
}

// Apply adds the function to the graph of in. Every call has memory of its own. It returns an error
// if the number, the shapes or the types of the arguments differ from those of the inputs.
func (o *Op) Apply(in ...*G.Node) (*G.Node, error) {
	if len(in) != len(o.in) {
		return nil, fmt.Errorf("gorgonia: op %s was given %s: want %d", o.name, errtext.Count(len(in), "argument"), len(o.in))
	}
	for i, n := range in {
		if want := gt.Shape(o.in[i].Shape()); n == nil || !sameShape(n.Shape(), want) {
			return nil, fmt.Errorf("gorgonia: op %s: argument %d is %v: want shape %v", o.name, i, n, want)
		}
	}
	own := &Op{name: o.name, id: lastOp.Add(1), out: o.out, in: o.in, g: o.g, grad: o.grad, by: map[gt.Dtype]*runner{}}
	return G.ApplyOp(own, in...)
}

// Apply adds an elementwise operation of autodiff to the graph of in. The arguments must have one
// shape or be scalars.
func Apply(op *ad.Op, in ...*G.Node) (*G.Node, error) {
	x := make([]*ad.Node, len(in))
	for i, n := range in {
		if n == nil {
			return nil, fmt.Errorf("gorgonia: %s: argument %d is nil: pass a node", op.Name, i)
		}
		x[i] = ad.Input(fmt.Sprintf("x%d", i), n.Shape()...)
	}
	o, err := NewOp(op.Name, op.Apply(x...), x...)
	if err != nil {
		return nil, err
	}
	return G.ApplyOp(o, in...)
}

// inline returns the function as Nodes of x.
func (o *Op) inline(x []*ad.Node) *ad.Node { return ad.Substitute([]*ad.Node{o.out}, o.in, x)[0] }

// Arity returns the number of inputs.
func (o *Op) Arity() int { return len(o.in) }

// Type returns the type of the function, in -> ... -> out.
func (o *Op) Type() hm.Type { return hm.NewFnType(append(o.inTypes(), o.typeOf(o.out))...) }

func (o *Op) inTypes() []hm.Type {
	t := make([]hm.Type, len(o.in), len(o.in)+2)
	for i, x := range o.in {
		t[i] = o.typeOf(x)
	}
	return t
}

// typeOf returns Gorgonia's type of x; all reals share one type variable.
func (o *Op) typeOf(x *ad.Node) hm.Type {
	var of hm.Type = hm.TypeVariable('a')
	if x.IsInt() {
		of = gt.Int
	}
	if len(x.Shape()) == 0 {
		return of
	}
	return G.TensorType{Dims: len(x.Shape()), Of: of}
}

// InferShape returns the shape of the output.
func (o *Op) InferShape(...G.DimSizer) (gt.Shape, error) {
	return gt.Shape(o.out.Shape()).Clone(), nil
}

// ReturnsPtr reports that the result is not a copy of an input.
func (o *Op) ReturnsPtr() bool { return true }

// CallsExtern reports that no cgo is involved.
func (o *Op) CallsExtern() bool { return false }

// OverwritesInput reports that inputs are never overwritten.
func (o *Op) OverwritesInput() int { return -1 }

// String returns the name of the operation.
func (o *Op) String() string { return o.name }

// WriteHash writes the identity of the operation, since Gorgonia merges nodes whose hashes agree.
func (o *Op) WriteHash(h hash.Hash) { fmt.Fprintf(h, "euryale %s#%d", o.name, o.id) }

// Hashcode returns a hash of what WriteHash writes.
func (o *Op) Hashcode() uint32 { return hashOf(o) }

// Do computes the function and returns its value.
func (o *Op) Do(in ...G.Value) (G.Value, error) { return o.UsePreallocDo(nil, in...) }

// UsePreallocDo computes the function into dst if dst fits.
func (o *Op) UsePreallocDo(dst G.Value, in ...G.Value) (G.Value, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r, err := o.runner(in)
	if err != nil {
		return nil, err
	}
	if err := r.forward(in, o.diff); err != nil {
		return nil, fmt.Errorf("gorgonia: op %s: %w", o.name, err)
	}
	return r.y.to(dst, 1), nil
}

func hashOf(o G.Op) uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

func sameShape(a, b gt.Shape) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
