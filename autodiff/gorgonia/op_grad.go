// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"
	"hash"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// DiffWRT reports, for each input, whether it has a gradient, as every input of reals does.
func (o *Op) DiffWRT(n int) []bool {
	wrt := make([]bool, n)
	for i := range wrt {
		wrt[i] = o.grad[i] != nil
	}
	return wrt
}

// SymDiff adds one node for each input of reals. The first of these nodes to run computes the
// gradients of all.
func (o *Op) SymDiff(in G.Nodes, _, grad *G.Node) (G.Nodes, error) {
	o.mu.Lock()
	o.diff = true
	o.mu.Unlock()
	out := make(G.Nodes, len(in))
	for i := range in {
		if o.grad[i] == nil {
			continue
		}
		n, err := G.ApplyOp(&partial{o, i}, append(in[:len(in):len(in)], grad)...)
		if err != nil {
			return nil, fmt.Errorf("gorgonia: op %s: gradient %d: %w", o.name, i, err)
		}
		out[i] = n
	}
	return out, nil
}

// DoDiff adds the gradients to those of the inputs, for LispMachine.
func (o *Op) DoDiff(_ G.ExecutionContext, inputs G.Nodes, output *G.Node) error {
	g, err := output.Grad()
	if err != nil {
		return err
	}
	in := make([]G.Value, len(inputs))
	for i, n := range inputs {
		in[i] = n.Value()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	r, err := o.runner(in)
	if err != nil {
		return err
	}
	scale, err := r.backward(in, g)
	if err != nil {
		return fmt.Errorf("gorgonia: gradient of op %s: %w", o.name, err)
	}
	for i, n := range inputs {
		if o.grad[i] == nil {
			continue
		}
		sum, err := n.Grad()
		if err != nil {
			return err
		}
		r.dx[i].addTo(sum, scale)
	}
	return nil
}

// partial is the gradient of one input: in..., g -> gradient of in[i].
type partial struct {
	o *Op
	i int
}

var _ G.Op = (*partial)(nil)

func (p *partial) Arity() int { return len(p.o.in) + 1 }
func (p *partial) Type() hm.Type {
	return hm.NewFnType(append(p.o.inTypes(), p.o.typeOf(p.o.out), p.o.typeOf(p.o.in[p.i]))...)
}
func (p *partial) InferShape(...G.DimSizer) (gt.Shape, error) {
	return gt.Shape(p.o.in[p.i].Shape()).Clone(), nil
}
func (p *partial) ReturnsPtr() bool      { return true }
func (p *partial) CallsExtern() bool     { return false }
func (p *partial) OverwritesInput() int  { return -1 }
func (p *partial) String() string        { return fmt.Sprintf("d%s/dx%d", p.o.name, p.i) }
func (p *partial) WriteHash(h hash.Hash) { p.o.WriteHash(h); fmt.Fprintf(h, "/%d", p.i) }
func (p *partial) Hashcode() uint32      { return hashOf(p) }

func (p *partial) Do(in ...G.Value) (G.Value, error) { return p.UsePreallocDo(nil, in...) }

func (p *partial) UsePreallocDo(dst G.Value, in ...G.Value) (G.Value, error) {
	o := p.o
	o.mu.Lock()
	defer o.mu.Unlock()
	k := len(o.in)
	r, err := o.runner(in[:k])
	if err != nil {
		return nil, err
	}
	scale, err := r.backward(in[:k], in[k])
	if err != nil {
		return nil, fmt.Errorf("gorgonia: gradient of op %s: %w", o.name, err)
	}
	return r.dx[p.i].to(dst, scale), nil
}

// inline returns the gradient as a Node of x: the inputs and the gradient of the
// output.
func (p *partial) inline(x []*ad.Node) *ad.Node {
	from := append(p.o.in[:len(p.o.in):len(p.o.in)], p.o.g)
	return ad.Substitute([]*ad.Node{p.o.grad[p.i]}, from, x)[0]
}
