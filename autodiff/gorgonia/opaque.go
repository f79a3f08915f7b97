// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"
	"slices"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// opaque runs the operation by its own Do. Gradient: what its SymDiff builds,
// imported; an error where it has none.
func (l *lowering) opaque() *ad.Node {
	c := l.step()
	op, ok := l.op.(G.SDOp)
	if !ok {
		c.VJP = func(_, _ *ad.Node, x []*ad.Node) []*ad.Node {
			out := repeated(failed(fmt.Errorf("%T has no gradient because it is not a gorgonia.SDOp: %w", l.op, ad.ErrNoGradient)), len(x))
			clear(out[len(l.kids):]) // the step that this one waits for
			return out
		}
		return l.call(c)
	}
	kids, n := l.kids, l.n
	c.VJP = func(g, y *ad.Node, x []*ad.Node) []*ad.Node {
		out, err := symDiff(op, kids, n, g, y, x)
		if err != nil {
			return repeated(failed(fmt.Errorf("gradient of %T: %w", op, err)), len(x))
		}
		return out
	}
	return l.call(c)
}

// call adds the step to the graph. Steps may share state that they fill when
// they run (a normalisation's means), so each waits for the one before: its last
// input is an element of that one's result.
func (l *lowering) call(c *ad.Custom) *ad.Node {
	in := make([]*ad.Node, len(l.x), len(l.x)+1)
	for i, x := range l.x {
		in[i] = ad.Float(x)
	}
	if l.im.opaque != nil {
		in = append(in, ad.Slice(flat(l.im.opaque), 0, 0, 1))
	}
	y := ad.Call(c, in...)
	l.im.opaque = y
	return y
}

// step is the operation as a Custom without gradient.
func (l *lowering) step() *ad.Custom {
	op, shape := l.op, tensor.Shape(l.n.Shape())
	types, shapes := make([]gt.Dtype, len(l.kids)), make([]gt.Shape, len(l.kids))
	for i, k := range l.kids {
		types[i], shapes[i] = k.Dtype(), k.Shape()
	}
	return &ad.Custom{
		Name:  fmt.Sprintf("%T", op),
		Shape: func(...tensor.Shape) (tensor.Shape, error) { return shape, nil },
		Forward: func(out []float64, in ...[]float64) error {
			args := make([]G.Value, len(types))
			for i := range args {
				args[i] = makeValue(types[i], shapes[i], slices.Clone(in[i])) // some operations overwrite theirs
			}
			y, err := do(op, args)
			if err != nil {
				return fmt.Errorf("gorgonia: %w", err)
			}
			return readValue(out, y)
		},
	}
}

// do runs the operation; what it panics with is an error.
func do(op G.Op, args []G.Value) (y G.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return op.Do(args...)
}

// symDiff lets op differentiate itself in a graph of its own and imports the
// result in terms of g, y and x.
func symDiff(op G.SDOp, kids []*G.Node, n *G.Node, g, y *ad.Node, x []*ad.Node) ([]*ad.Node, error) {
	scratch := G.NewGraph()
	im := newImporter()
	like := func(m *G.Node, name string, v *ad.Node) *G.Node {
		s := G.NewUniqueNode(G.WithType(m.Type()), G.WithShape(m.Shape()...), G.WithName(name), G.In(scratch))
		im.of[s] = v
		return s
	}
	var in G.Nodes
	for i, k := range kids {
		in = append(in, like(k, fmt.Sprintf("x%d", i), x[i]))
	}
	wrt := op.DiffWRT(len(kids))
	out, err := G.ApplyOp(op, in...)
	if err != nil {
		return nil, err
	}
	im.of[out], im.opaque = y, y
	grads, err := op.SymDiff(in, out, like(n, "g", g))
	if err != nil {
		return nil, err
	}
	res := make([]*ad.Node, len(x))
	for i := range kids {
		if i >= len(grads) || grads[i] == nil || !wrt[i] {
			continue
		}
		if _, err := im.add(grads[i]); err != nil {
			return nil, err
		}
		res[i] = ad.Reshape(im.of[grads[i]], x[i].Shape()...)
	}
	return res, nil
}

func repeated(n *ad.Node, k int) []*ad.Node {
	out := make([]*ad.Node, k)
	for i := range out {
		out[i] = n
	}
	return out
}

func noShape(err error) func(...tensor.Shape) (tensor.Shape, error) {
	return func(...tensor.Shape) (tensor.Shape, error) { return nil, err }
}
