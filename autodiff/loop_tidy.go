// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// tidyLoops returns outputs with scans that compute only what is needed of them. A scan and the scan that its gradient made to
// keep values become one.
func tidyLoops(outputs []*Node) []*Node {
	whole := map[*Node]bool{} // scans that stay as they are
	for {
		order := upstream(outputs...)
		n := lastUntidy(order, whole)
		if n == nil {
			if !slices.ContainsFunc(order, func(n *Node) bool { return n.op == scanOp }) {
				return outputs
			}
			return withConstants(outputs)
		}
		var from, to []*Node
		if group := users(order, outputs, n); len(group) > 0 {
			from, to = joined(group)
		}
		if from == nil {
			whole[n] = true
			continue
		}
		outputs = Substitute(outputs, from, to)
	}
}

// withConstants returns outputs with scans whose steps have the constants that they share inside, where they become numbers of
// the kernels.
func withConstants(outputs []*Node) []*Node {
	order := upstream(outputs...)
	var inputs []*Node
	for _, n := range order {
		if n.isInput() {
			inputs = append(inputs, n)
		}
	}
	given, made := reaches(order, inputs), map[*Node]*Node{}
	now := func(list []*Node) (out []*Node, changed bool) {
		for _, n := range list {
			if m := made[n]; m != nil {
				n, changed = m, true
			}
			out = append(out, n)
		}
		return out, changed
	}
	for _, n := range order {
		in, changed := now(n.in)
		obj := n.obj
		if n.op == scanOp {
			l, known := n.obj.(*loop), map[int]*Node{}
			first := len(l.carry) + len(l.xs)
			rest := slices.Clone(in[:first])
			for k, x := range n.in[first:] {
				if !given[x] && (x.op == nil || x.op.kind == compiler.Elementwise || x.op.kind == compiler.View) {
					known[k] = x
				} else {
					rest = append(rest, in[first+k])
				}
			}
			if len(known) > 0 {
				in, obj, changed = rest, l.knowing(known), true
			}
		}
		if changed {
			c := *n
			c.in, c.obj, c.id = in, obj, lastID.Add(1)
			made[n] = &c
		}
	}
	outputs, _ = now(outputs)
	return outputs
}

// knowing returns the loop with constants in place of what the steps share, by its numbers.
func (l *loop) knowing(known map[int]*Node) *loop {
	var key strings.Builder
	for k := range l.captured {
		if x := known[k]; x != nil {
			fmt.Fprint(&key, " ", k, " ", x.id)
		}
	}
	return memo(l, &l.lifted, "knowing"+key.String(), func() *loop {
		out := l.like()
		out.tidy, out.carry, out.xs = l.tidy, l.carry, l.xs
		var from, to []*Node
		for k, p := range l.captured {
			if x := known[k]; x != nil {
				from, to = append(from, p), append(to, x)
			} else {
				out.captured = append(out.captured, p)
			}
		}
		outs := Substitute(slices.Concat(l.next, l.ys), from, to)
		out.next, out.ys = outs[:len(l.carry)], outs[len(l.carry):]
		return out
	})
}

// lastUntidy returns the last scan that may compute too much; nothing after it does.
func lastUntidy(order []*Node, whole map[*Node]bool) *Node {
	for _, n := range slices.Backward(order) {
		if n.op == scanOp && !n.obj.(*loop).tidy && !whole[n] {
			return n
		}
	}
	return nil
}

// used is a scan and the parts of its value that are used, by number, with the Nodes that take them.
type used struct {
	n     *Node
	takes map[int][]*Node
}

// users returns n and the scans that run the same steps on the same inputs, of which only single parts are used. It is
// empty if something uses n itself.
func users(order, outputs []*Node, n *Node) []used {
	root := n.obj.(*loop).root()
	var group []used
	for _, m := range order {
		if m.op != scanOp || m.obj.(*loop).root() != root || !slices.Equal(m.in, n.in) {
			continue
		}
		if takes := takers(order, outputs, m); takes != nil {
			group = append(group, used{m, takes})
		} else if m == n {
			return nil
		}
	}
	return group
}

// takers returns the Nodes that take parts of a scan, by the number of the part; nil if one takes something else.
func takers(order, outputs []*Node, n *Node) map[int][]*Node {
	l := n.obj.(*loop)
	takes, at, begins, only := map[int][]*Node{}, 0, map[[2]int]int{}, -1
	for i, s := range l.shapes() {
		begins[[2]int{at, s.Size()}] = i
		if s.Size() == n.Size() {
			only = i
		}
		at += s.Size()
	}
	if only >= 0 && n.Size() > 0 {
		return map[int][]*Node{only: {n}}
	}
	if slices.Contains(outputs, n) {
		return nil
	}
	for _, c := range order {
		if !slices.Contains(c.in, n) {
			continue
		}
		part, ok := -1, false
		if c.op == sliceOp && c.Size() > 0 && slices.Equal(c.attr[3:], wholeSlice(n.shape[1:])) && c.attr[1] == 1 {
			part, ok = begins[[2]int{c.attr[0] * n.shape[1:].Size(), c.Size()}]
		}
		if !ok {
			return nil
		}
		takes[part] = append(takes[part], c)
	}
	return takes
}

// joined returns the Nodes that take parts of scans of a group, and what stands for them: parts of one scan that computes no
// more. It returns nothing if the only scan of the group does that already.
func joined(group []used) (from, to []*Node) {
	root := group[0].n.obj.(*loop).root()
	lasts := make([]bool, len(root.carry))
	var ys []*Node
	for _, u := range group {
		l := u.n.obj.(*loop)
		for part := range len(lasts) + len(l.ys) {
			if u.takes[part] == nil {
				continue
			}
			if part < len(lasts) {
				lasts[part] = true
			} else if y := l.ys[part-len(lasts)]; !slices.Contains(ys, y) {
				ys = append(ys, y)
			}
		}
	}
	slices.SortFunc(ys, func(a, b *Node) int { return int(int64(a.id) - int64(b.id)) })
	r := root.reduced(lasts, ys)
	if l := group[0].n.obj.(*loop); len(group) == 1 && len(r.loop.carry) == len(l.carry) && len(ys) == len(l.ys) && len(r.loop.xs) == len(l.xs) && len(r.loop.captured) == len(l.captured) {
		return nil, nil
	}
	var in []*Node
	for _, k := range r.inputs {
		in = append(in, group[0].n.in[k])
	}
	last, stacks := r.loop.parts(r.loop.call(in))
	for _, u := range group {
		l := u.n.obj.(*loop)
		for part, list := range u.takes {
			var stands *Node
			if part < len(lasts) {
				stands = last[slices.Index(r.carries, part)]
			} else {
				stands = stacks[slices.Index(ys, l.ys[part-len(lasts)])]
			}
			for _, c := range list {
				from, to = append(from, c), append(to, Reshape(stands, c.shape...))
			}
		}
	}
	return from, to
}

// reducedLoop is a loop that computes less than the one that it was made of.
type reducedLoop struct {
	loop    *loop
	carries []int // carries that are left
	inputs  []int // inputs of the scan that are left
}

// reduced returns the loop with the results ys and what some last carries need.
func (l *loop) reduced(lasts []bool, ys []*Node) *reducedLoop {
	var key strings.Builder
	fmt.Fprint(&key, lasts)
	for _, y := range ys {
		fmt.Fprint(&key, " ", y.id)
	}
	return memo(l, &l.needed, key.String(), func() *reducedLoop {
		live := slices.Clone(lasts)
		for i, c := range l.carry {
			live[i] = live[i] || c == l.count || c == l.until || c == l.done
		}
		for {
			outs := slices.Clone(ys)
			for i, n := range l.next {
				if live[i] {
					outs = append(outs, n)
				}
			}
			uses := map[*Node]bool{}
			for _, n := range upstream(outs...) {
				uses[n] = true
			}
			grown := false
			for i, c := range l.carry {
				if uses[c] && !live[i] {
					live[i], grown = true, true
				}
			}
			if !grown {
				return l.with(live, ys, uses)
			}
		}
	})
}

// with returns the loop with some of its carries, other results, and the places that they use.
func (l *loop) with(live []bool, ys []*Node, uses map[*Node]bool) *reducedLoop {
	r := &reducedLoop{loop: l.like()}
	r.loop.tidy, r.loop.ys = true, ys
	for i, c := range l.carry {
		if live[i] {
			r.loop.carry, r.loop.next = append(r.loop.carry, c), append(r.loop.next, l.next[i])
			r.carries, r.inputs = append(r.carries, i), append(r.inputs, i)
		}
	}
	keep := func(places []*Node, from int) (kept []*Node) {
		for i, p := range places {
			if uses[p] {
				kept, r.inputs = append(kept, p), append(r.inputs, from+i)
			}
		}
		return kept
	}
	r.loop.xs = keep(l.xs, len(l.carry))
	r.loop.captured = keep(l.captured, len(l.carry)+len(l.xs))
	return r
}
