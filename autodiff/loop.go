// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/tensor"
)

// loop is a step that scan repeats: a graph of its own, from places for the carries, the elements of
// the inputs and what is the same in every step, to the next carries and the results.
//
// The value of a scan is one vector: the last carries, then each result stacked over the steps.
type loop struct {
	steps   int
	reverse bool
	again   bool // whether the gradient keeps nothing of a step but its carry
	tidy    bool // whether it computes only what is needed

	base *loop // loop of the same steps with fewer results, which this one's begin with; nil if there is none

	carry, xs, captured []*Node // places
	next, ys            []*Node

	// Of the carries, unless nil: how many steps are run, where that is not known before; what ends the loop before
	// a step once it is 0; and how many steps have been run. Results of steps that are not run are 0.
	count, until, done *Node

	mu       sync.Mutex
	batcher  *batcher            // what made this form for batches; nil for other loops
	runs     *Node               // of a masked loop: whether a step is run
	number   *Node               // of a masked loop: the input that is the number of a step, if it takes it
	adjoints map[string]*adjoint // gradients, by which results they come from
	lifted   map[string]*loop    // forms for batches
	needed   map[string]*reducedLoop
	code     *compiler.Scan
	codeErr  error
}

// memo returns what is known under a key, or makes it. make is called without the lock: what it makes
// may be made twice, and one is kept.
func memo[T any](l *loop, m *map[string]T, key string, make func() T) T {
	l.mu.Lock()
	v, ok := (*m)[key]
	l.mu.Unlock()
	if ok {
		return v
	}
	v = make()
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, ok := (*m)[key]; ok {
		return old
	}
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[key] = v
	return v
}

// traced calls a step once and makes a loop of it, without a number of steps. captured are the Nodes
// from outside that it uses, and, unless lazy, those that are the same in every step. After a mistake the loop has
// the results that step returned.
func traced(step func(carry, x []*Node) (next, y []*Node), init, xs []*Node, lazy bool) (l *loop, captured []*Node, bad *Node) {
	return tracedSince(lastID.Add(1), step, init, xs, lazy)
}

// tracedSince is traced for a step whose Nodes are those with a number above begin.
func tracedSince(begin uint64, step func(carry, x []*Node) (next, y []*Node), init, xs []*Node, lazy bool) (l *loop, captured []*Node, bad *Node) {
	l = &loop{}
	for _, c := range init {
		l.carry = append(l.carry, Input("carry", c.shape...))
	}
	for _, x := range xs {
		p := Input("x", x.shape[1:]...)
		p.isInt = x.isInt
		l.xs = append(l.xs, p)
	}
	l.next, l.ys = step(slices.Clone(l.carry), slices.Clone(l.xs))
	if bad := l.check(); bad != nil {
		return l, nil, bad
	}
	outs := slices.Concat(l.next, l.ys)
	outside := func(n *Node) bool { return lazy && n.id < begin } // of which it does not matter how it is made
	order := upstreamUntil(outside, outs...)
	moving := reaches(order, slices.Concat(l.carry, l.xs))
	var inputs []*Node // and constants from outside, by which there may be gradients
	for _, n := range order {
		if n.isInput() || n.op == nil && !n.isInt && n.id < begin || n.op != nil && outside(n) {
			inputs = append(inputs, n)
		}
		moving[n] = moving[n] || lazy && n.op != nil && n.id > begin
	}
	given := reaches(order, inputs)
	seen := map[*Node]bool{}
	use := func(n *Node) {
		if !moving[n] && given[n] && !seen[n] {
			seen[n] = true
			captured = append(captured, n)
		}
	}
	for _, n := range order {
		if moving[n] {
			for _, x := range n.in {
				use(x)
			}
		}
	}
	for _, n := range outs {
		use(n)
	}
	for _, n := range captured {
		p := Input(n.name, n.shape...)
		p.isInt = n.isInt
		l.captured = append(l.captured, p)
	}
	outs = Substitute(outs, captured, l.captured)
	l.next, l.ys = outs[:len(l.carry)], outs[len(l.carry):]
	return l, captured, nil
}

// check returns a Node with what is wrong about the results of a step, or nil.
func (l *loop) check() *Node {
	if bad := notReal("scan", slices.Concat(l.next, l.ys)...); bad != nil {
		return bad
	}
	if len(l.next) != len(l.carry) {
		return mistake("scan", "the step returned %d carries: want %d, as many as it takes", len(l.next), len(l.carry))
	}
	for i, n := range l.next {
		if !n.shape.Equal(l.carry[i].shape) {
			return mistake("scan", "the step returned carry %d with shape %v: want its initial shape, %v", i, n.shape, l.carry[i].shape)
		}
	}
	return nil
}

// root returns the loop that l was made of by adding results.
func (l *loop) root() *loop {
	for l.base != nil {
		l = l.base
	}
	return l
}

// like returns a loop of other steps that runs as l does.
func (l *loop) like() *loop {
	return &loop{steps: l.steps, reverse: l.reverse, again: l.again, count: l.count, until: l.until, done: l.done, number: l.number}
}

// places returns the inputs of a step.
func (l *loop) places() []*Node { return slices.Concat(l.carry, l.xs, l.captured) }

// stacked returns the shape of a value of every step.
func (l *loop) stacked(s tensor.Shape) tensor.Shape { return append(tensor.Shape{l.steps}, s...) }

// shapes returns the shapes of the parts of the value of a scan, in their order.
func (l *loop) shapes() (all []tensor.Shape) {
	for _, c := range l.carry {
		all = append(all, c.shape)
	}
	for _, y := range l.ys {
		all = append(all, l.stacked(y.shape))
	}
	return all
}

// call makes the scan of the loop; in are the first carries, the stacked inputs and what the steps share.
func (l *loop) call(in []*Node) *Node {
	size := 0
	for _, s := range l.shapes() {
		if !s.Valid() || size > countableSize-s.Size() {
			return failed(&tensor.ShapeError{Op: "scan", Got: l.shapes(), Want: countable})
		}
		size += s.Size()
	}
	n := newNode(scanOp, tensor.Shape{size}, in...)
	n.obj = l
	return n
}

// countableSize is the largest number of elements of a vector.
const countableSize = 1 << 40

// parts returns the last carries and the stacked results of a scan.
func (l *loop) parts(n *Node) (last, ys []*Node) {
	if n.err != nil {
		return repeat(n, max(1, len(l.carry))), repeat(n, max(1, len(l.ys)))
	}
	at := 0
	for i, s := range l.shapes() {
		part := Reshape(Slice(n, 0, at, at+s.Size()), s...)
		at += s.Size()
		if i < len(l.carry) {
			last = append(last, part)
		} else {
			ys = append(ys, part)
		}
	}
	return last, ys
}

// compiled returns the loop in the compiler's form.
func (l *loop) compiled() (*compiler.Scan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.code == nil && l.codeErr == nil {
		outs := slices.Concat(l.next, l.ys)
		body, err := build(l.places(), outs, upstream(outs...), false, nil)
		if err != nil {
			l.codeErr = fmt.Errorf("in the step of a scan: %w", err)
		} else {
			l.code = &compiler.Scan{Body: body, Steps: l.steps, Reverse: l.reverse, Carries: len(l.carry), Inputs: len(l.xs), Results: len(l.ys),
				Count: slices.Index(l.carry, l.count), Until: slices.Index(l.carry, l.until), Number: slices.Index(l.xs, l.number)}
		}
	}
	return l.code, l.codeErr
}

// liftLoop returns a scan in a batch: its carries have the batch axis, and so have inputs that depend on the batch.
func liftLoop(b *batcher, n *Node) *Node {
	l := n.obj.(*loop)
	in := slices.Clone(n.in)
	if l.count != nil || l.until != nil {
		if l = l.masked(); l.count != nil {
			in = slices.Insert(in, len(l.carry)+len(l.xs)-1, Scalar(0)) // in place of which the steps have their numbers
		}
	}
	batched := make([]bool, len(in))
	for i := range in {
		if i < len(l.carry) || b.made[in[i]] != nil {
			in[i], batched[i] = b.full(in[i]), true
		}
	}
	lifted := l.lift(b.n, batched)
	if bad := firstErr(append(slices.Clone(lifted.next), lifted.ys...)...); bad != nil {
		return bad
	}
	m := lifted.call(in)
	if m.err == nil {
		m.shape = b.shape(n) // of each number of n, the lanes
	}
	return m
}

// masked returns a loop of unknown length whose lanes may end one by one: a step changes nothing once it is not to be run. If
// the number of steps is given, it has one more input, the number of each step.
func (l *loop) masked() *loop {
	return memo(l, &l.lifted, "masked", func() *loop {
		out := l.like()
		out.tidy, out.carry, out.xs, out.captured = l.tidy, l.carry, l.xs, l.captured
		known := 0
		if l.base != nil {
			out.base = l.base.masked()
			out.xs, out.runs, out.number, out.next, out.ys = out.base.xs, out.base.runs, out.base.number, out.base.next, out.base.ys
			known = len(out.ys)
		} else {
			out.runs = l.until
			if l.count != nil {
				out.number = Input("step")
				out.xs = append(slices.Clone(l.xs), out.number)
				out.runs = Less(out.number, l.count)
			}
			for i, n := range l.next {
				out.next = append(out.next, Where(out.runs, n, l.carry[i]))
			}
		}
		out.ys = slices.Clone(out.ys)
		for _, y := range l.ys[known:] {
			out.ys = append(out.ys, Where(out.runs, y, Scalar(0)))
		}
		return out
	})
}

// lift returns the loop for a batch of n, in which some of the inputs of a scan have the batch axis.
func (l *loop) lift(n int, batched []bool) *loop {
	return memo(l, &l.lifted, fmt.Sprint(n, batched), func() *loop {
		out := l.like()
		out.tidy, out.batcher = l.tidy, &batcher{n: n, made: map[*Node]*Node{}}
		places, next, ys := l.places(), l.next, l.ys
		if l.base != nil {
			out.base = l.base.lift(n, batched)
			out.batcher.made, out.batcher.repeated = maps.Clone(out.base.batcher.made), maps.Clone(out.base.batcher.repeated)
		} else {
			for i, p := range places {
				if batched[i] {
					out.batcher.place(p)
				}
			}
		}
		outs, bad := out.batcher.outputs(slices.Concat(next, ys))
		if bad != nil {
			out.next = []*Node{bad}
			return out
		}
		in := out.batcher.inputs(places)
		c, x := len(l.carry), len(l.carry)+len(l.xs)
		out.carry, out.xs, out.captured, out.next, out.ys = in[:c], in[c:x], in[x:], outs[:c], outs[c:]
		out.count, out.until, out.done = out.batcher.made[l.count], out.batcher.made[l.until], out.batcher.made[l.done]
		return out
	})
}
