// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// GradCheckpoint is Grad with less memory: of the forward values it keeps only those whose names
// are in saved (see Node.Named), leaves, and y's own inputs. It computes the others again when the
// gradient needs them. Values and gradients do not change.
func GradCheckpoint(y *Node, saved []string, xs ...*Node) []*Node {
	if bad := notReal("grad", append([]*Node{y}, xs...)...); bad != nil {
		return repeat(bad, len(xs))
	}
	m := &recompute{saved: map[*Node]bool{}, copies: map[*Node]*Node{}}
	for _, n := range upstream(y) {
		m.saved[n] = n.op == nil || (n.name != "" && slices.Contains(saved, n.name))
	}
	return vjp([]*Node{y}, []*Node{Full(1, y.shape...)}, xs, m)
}

// recompute makes second copies of forward values. A copy starts from saved
// values that pass a barrier, so that it is neither merged with the original
// nor computed before the gradient needs it.
type recompute struct {
	saved  map[*Node]bool
	copies map[*Node]*Node
}

// of returns the inputs and the output of n that the derivative rule may use.
func (m *recompute) of(n, g *Node) (in []*Node, out *Node) {
	if m == nil {
		return n.in, n
	}
	in = make([]*Node, len(n.in))
	for i, x := range n.in {
		in[i] = m.copy(x, g)
	}
	out = n
	if !m.saved[n] {
		out = m.clone(n, in)
	}
	return in, out
}

func (m *recompute) copy(n, g *Node) *Node {
	if n.op == nil {
		return n
	}
	if c := m.copies[n]; c != nil {
		return c
	}
	if m.saved[n] {
		c := newNode(barrierOp, n.shape, n, g)
		m.copies[n] = c
		return c
	}
	in := make([]*Node, len(n.in))
	for i, x := range n.in {
		in[i] = m.copy(x, g)
	}
	// A copy that starts from leaves alone needs a barrier of its own.
	if !slices.ContainsFunc(in, func(x *Node) bool { return x.op != nil }) {
		for i, x := range in {
			if !x.isInt {
				in[i] = newNode(barrierOp, x.shape, x, g)
			}
		}
	}
	return m.clone(n, in)
}

func (m *recompute) clone(n *Node, in []*Node) *Node {
	if c := m.copies[n]; c != nil {
		return c
	}
	c := *n
	c.in, c.id, c.name = in, lastID.Add(1), ""
	m.copies[n] = &c
	return &c
}

var barrierOp *Op

func init() {
	barrierOp = register(&Op{Name: "barrier", Arity: 2, kind: compiler.Barrier, Smooth: true,
		vjp: func(g, _ *Node, _ []*Node) []*Node { return []*Node{g, nil} },
		Sample: func(in Source) []*Node {
			x := in(-1, 1, 3)
			return []*Node{newNode(barrierOp, x.shape, x, in(-1, 1, 2))}
		},
	})
}
