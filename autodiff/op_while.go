// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "slices"

// While repeats a step as long as a condition holds:
//
//	carry = step(carry) while cond(carry) is not 0, at most most times
//
// It returns the last carry and the number of steps that were run; if that equals most, the
// condition may still hold. Both functions are called once to make graphs, and cond returns a
// scalar. The graph does not grow with most, but a gradient keeps what it needs of each step and
// has memory for most of them.
//
// Gradient: that of the steps that were run, of any order; there is none through the condition. In
// a batch, a lane stays as it is once its condition no longer holds.
func While(cond func(carry []*Node) *Node, step func(carry []*Node) []*Node, init []*Node, most int) (last []*Node, count *Node) {
	bad := notReal("while", init...)
	switch {
	case bad != nil:
	case cond == nil || step == nil:
		bad = mistake("while", "the condition or the step is nil: pass functions")
	case most < 0:
		bad = mistake("while", "the limit is %d steps: want at least 0", most)
	}
	if bad != nil {
		return repeat(bad, max(1, len(init))), bad
	}
	holds := func(carry []*Node) *Node {
		c := cond(slices.Clone(carry))
		if bad := notReal("while", c); bad != nil {
			return bad
		}
		if c.Size() != 1 {
			return mistake("while", "the condition has shape %v: want a scalar", c.shape)
		}
		return NotEqual(Reshape(c), Scalar(0))
	}
	k := len(init)
	begin := append(slices.Clone(init), holds(init), Scalar(0))
	if bad := firstErr(begin...); bad != nil {
		return repeat(bad, max(1, k)), bad
	}
	l, captured, bad := traced(func(carry, _ []*Node) (next, y []*Node) {
		next = step(slices.Clone(carry[:k:k]))
		if bad := firstErr(next...); bad != nil {
			return repeat(bad, len(carry)), nil
		}
		if len(next) != k {
			return repeat(mistake("while", "the step returned %d carries: want %d, as many as it takes", len(next), k), len(carry)), nil
		}
		return append(slices.Clone(next), holds(next), Add(carry[k+1], Scalar(1))), nil
	}, begin, nil, true)
	if bad != nil {
		return repeat(bad, max(1, k)), bad
	}
	l.steps, l.until, l.done = most, l.carry[k], l.carry[k+1]
	last, _ = l.parts(l.call(slices.Concat(begin, captured)))
	if last[0].err != nil {
		return repeat(last[0], max(1, k)), last[0]
	}
	return last[:k:k], last[k+1]
}

// Cond computes the function then if the scalar when is not 0, and the function otherwise if it is;
// only one of them runs. Both are called once to make graphs, and must return the same number of
// Nodes with the same shapes. For a choice by element see Where.
//
// Gradient: that of the function that was computed; there is none with respect to when. In a batch
// whose lanes differ, both are computed.
func Cond(when *Node, then, otherwise func() []*Node) []*Node {
	bad := notReal("cond", when)
	switch {
	case bad != nil:
	case when.Size() != 1:
		bad = mistake("cond", "the condition has shape %v: want a scalar", when.shape)
	case then == nil || otherwise == nil:
		bad = mistake("cond", "a branch is nil: pass two functions")
	}
	if bad != nil {
		return []*Node{bad}
	}
	yes := NotEqual(Reshape(when), Scalar(0))
	return merged(once(yes, Now(), then), once(Sub(Scalar(1), yes), Now(), otherwise))
}

// Mark is a moment in the making of a graph.
type Mark struct{ id uint64 }

// Now returns the Mark of Nodes that are made from here on.
func Now() Mark { return Mark{lastID.Add(1)} }

// CondMade is Cond for branches that were made already: the Nodes a since the Mark then, and b since the Mark otherwise. What they need of
// Nodes from before that is computed in any case.
func CondMade(when *Node, then Mark, a []*Node, otherwise Mark, b []*Node) []*Node {
	bad := notReal("cond", slices.Concat([]*Node{when}, a, b)...)
	if bad == nil && when.Size() != 1 {
		bad = mistake("cond", "the condition has shape %v: want a scalar", when.shape)
	}
	if bad != nil {
		return repeat(bad, max(1, len(a)))
	}
	yes := NotEqual(Reshape(when), Scalar(0))
	return merged(made(yes, then, a), made(Sub(Scalar(1), yes), otherwise, b))
}

// made returns Nodes that were made since a Mark if n is 1, and zeros if n is 0.
func made(n *Node, since Mark, list []*Node) []*Node {
	if slices.ContainsFunc(list, func(x *Node) bool { return x.op != nil && x.id > since.id }) {
		return once(n, since, func() []*Node { return list })
	}
	out := make([]*Node, len(list)) // they are there in any case
	for i, x := range list {
		out[i] = Where(n, x, Scalar(0))
	}
	return out
}

// merged adds the results of two branches, of which one is zeros.
func merged(a, b []*Node) []*Node {
	if bad := firstErr(slices.Concat(a, b)...); bad != nil {
		return repeat(bad, max(1, len(a)))
	}
	if len(a) != len(b) {
		return []*Node{mistake("cond", "the branches returned %d and %d Nodes: want the same number from both", len(a), len(b))}
	}
	for i := range a {
		if !a[i].shape.Equal(b[i].shape) {
			return repeat(mistake("cond", "result %d has shapes %v and %v: want the same shape in both branches", i, a[i].shape, b[i].shape), len(a))
		}
		a[i] = Add(a[i], b[i])
	}
	return a
}

// once computes what f makes, or made since a Mark, if n is 1, and zeros if n is 0.
func once(n *Node, since Mark, f func() []*Node) []*Node {
	l, captured, bad := tracedSince(since.id, func(carry, _ []*Node) (next, y []*Node) { return carry, f() }, []*Node{n}, nil, true)
	if bad != nil {
		return repeat(bad, max(1, len(l.ys)))
	}
	l.steps, l.count = 1, l.carry[0]
	_, ys := l.parts(l.call(slices.Concat([]*Node{n}, captured)))
	for i, y := range ys {
		ys[i] = Reshape(y, l.ys[i].shape...)
	}
	return ys
}
