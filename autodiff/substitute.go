// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

// Substitute returns outputs in which every from[i] is replaced by to[i], which must have the same
// shape. Parts that do not depend on from are shared.
func Substitute(outputs, from, to []*Node) []*Node {
	if bad := firstErr(append(append(append([]*Node{}, outputs...), from...), to...)...); bad != nil {
		return repeat(bad, len(outputs))
	}
	if len(from) != len(to) {
		return repeat(mistake("substitute", "there are %d Nodes and %d replacements: give one for each", len(from), len(to)), len(outputs))
	}
	made := map[*Node]*Node{}
	for i, x := range from {
		if !x.shape.Equal(to[i].shape) || x.isInt != to[i].isInt {
			return repeat(mistake("substitute", "cannot replace %v by %v: want the same shape, and reals for reals", x, to[i]), len(outputs))
		}
		made[x] = to[i]
	}
	for _, n := range upstreamUntil(func(n *Node) bool { return made[n] != nil }, outputs...) {
		if made[n] != nil {
			continue
		}
		in, changed := make([]*Node, len(n.in)), false
		for i, x := range n.in {
			if in[i] = x; made[x] != nil {
				in[i], changed = made[x], true
			}
		}
		if changed {
			c := *n
			c.in, c.id = in, lastID.Add(1)
			made[n] = &c
		}
	}
	out := make([]*Node, len(outputs))
	for i, n := range outputs {
		if out[i] = n; made[n] != nil {
			out[i] = made[n]
		}
	}
	return out
}

// Of makes a Node of a Node, a number or a slice of numbers; the latter two become constants. It
// serves functions that accept any of them.
func Of(v any) *Node {
	switch v := v.(type) {
	case *Node:
		if v == nil {
			return mistake("of", "the Node is nil: pass a Node or a number")
		}
		return v
	case float64:
		return Scalar(v)
	case int:
		return Scalar(float64(v))
	case []float64:
		return Const(v)
	}
	return mistake("of", "cannot make a Node of a %T: pass a *Node, a float64, an int or a []float64", v)
}
