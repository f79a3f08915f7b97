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
func tidyLoops(order, outputs []*Node) []*Node {
	t := newTidying(order, outputs)
	for _, n := range slices.Backward(order) { // what is needed of a scan depends on later ones
		if n.op != scanOp || t.uses[n] == 0 || t.stands[n] != nil || n.obj.(*loop).tidy {
			continue
		}
		if group := t.users(n); len(group) > 0 {
			t.replace(joined(group))
		}
	}
	return withConstants(t.replaced(outputs))
}

// tidying is what tidyLoops knows about a graph while it replaces scans.
type tidying struct {
	outputs []*Node
	takers  map[*Node][]*Node // Nodes that have one as an input
	uses    map[*Node]int     // how often a Node is an input of others that are needed, or an output
	scans   map[*loop][]*Node // by the loop that they were made of
	stands  map[*Node]*Node   // what a Node is replaced by
	known   map[*Node]bool
}

func newTidying(order, outputs []*Node) *tidying {
	t := &tidying{outputs, map[*Node][]*Node{}, map[*Node]int{}, map[*loop][]*Node{}, map[*Node]*Node{}, map[*Node]bool{}}
	for _, n := range order {
		t.add(n)
		if n.op == scanOp {
			root := n.obj.(*loop).root()
			t.scans[root] = append(t.scans[root], n)
		}
	}
	for _, n := range outputs {
		t.uses[n]++
	}
	return t
}

// add counts a Node as a user of its inputs, once, and so its inputs.
func (t *tidying) add(n *Node) {
	for stack := []*Node{n}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if t.known[n] {
			continue
		}
		t.known[n] = true
		for i, x := range n.in {
			t.uses[x]++
			if !slices.Contains(n.in[:i], x) {
				t.takers[x] = append(t.takers[x], n)
				stack = append(stack, x)
			}
		}
	}
}

// drop takes back that a Node uses its inputs, and so for inputs that nothing uses any more.
func (t *tidying) drop(n *Node) {
	for stack := []*Node{n}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, x := range n.in {
			if t.uses[x]--; t.uses[x] == 0 && t.stands[x] == nil {
				stack = append(stack, x)
			}
		}
	}
}

// replace puts Nodes, which may be made of new ones, in the place of others.
func (t *tidying) replace(from, to []*Node) {
	for _, n := range to {
		t.add(n)
		t.uses[n]++
	}
	for i, n := range from {
		t.drop(n)
		t.stands[n] = to[i]
	}
}

// replaced returns Nodes that are made of those that stand for others.
func (t *tidying) replaced(outputs []*Node) []*Node {
	made := map[*Node]*Node{}
	stack := slices.Clone(outputs)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		if made[n] != nil {
			stack = stack[:len(stack)-1]
			continue
		}
		needs := n.in
		if s := t.stands[n]; s != nil {
			needs = []*Node{s}
		}
		waits := false
		for _, x := range needs {
			if made[x] == nil {
				stack, waits = append(stack, x), true
			}
		}
		if waits {
			continue
		}
		stack = stack[:len(stack)-1]
		if s := t.stands[n]; s != nil {
			made[n] = made[s]
			continue
		}
		made[n] = n
		if slices.ContainsFunc(n.in, func(x *Node) bool { return made[x] != x }) {
			c := *n
			c.in, c.id = make([]*Node, len(n.in)), lastID.Add(1)
			for i, x := range n.in {
				c.in[i] = made[x]
			}
			made[n] = &c
		}
	}
	out := make([]*Node, len(outputs))
	for i, n := range outputs {
		out[i] = made[n]
	}
	return out
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

// used is a scan and the parts of its value that are used, by number, with the Nodes that take them.
type used struct {
	n     *Node
	takes map[int][]*Node
}

// users returns n and the scans that run the same steps on the same inputs, of which only single parts are used. It is
// empty if something uses n itself.
func (t *tidying) users(n *Node) []used {
	var group []used
	for _, m := range t.scans[n.obj.(*loop).root()] {
		if t.uses[m] == 0 || t.stands[m] != nil || !slices.Equal(m.in, n.in) {
			continue
		}
		if takes := t.parts(m); takes != nil {
			group = append(group, used{m, takes})
		} else if m == n {
			return nil
		}
	}
	return group
}

// parts returns the Nodes that take parts of a scan, by the number of the part; nil if one takes something else.
func (t *tidying) parts(n *Node) map[int][]*Node {
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
	if slices.Contains(t.outputs, n) {
		return nil
	}
	for _, c := range t.takers[n] {
		if t.uses[c] == 0 || t.stands[c] != nil {
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
