// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
	"github.com/euryale-dev/euryale/tensor"
)

// A loop whose condition depends on parameters runs at most so many times, and fewer if its variables are large: the gradient keeps those
// of each repetition. A point at which it runs as often is rejected.
const (
	mostRepetitions = 10_000
	mostCarried     = 4_000_000
)

// while repeats as long as a condition holds: statement by statement as long as that is known, and as a loop of the graph from then on.
func (m *Machine) while(s *syntax.While) (end, error) {
	for {
		if err := m.step(s.At()); err != nil {
			return end{}, err
		}
		v, err := m.eval(s.Cond)
		if err != nil {
			return end{}, m.fault(s.Cond.At(), err)
		}
		if v.Known() && v.Lanes > 0 {
			v = common(v)
		}
		switch {
		case v.Lanes > 0 || !v.Known() && m.lanes != nil:
			return end{}, value.ErrUnroll
		case !v.Known() && m.late:
			return end{}, errLate
		case !v.Known():
			return m.whileUnknown(s, end{})
		case v.Number() == 0:
			return end{}, nil
		}
		e, err := m.block(s.Body)
		if err != nil {
			return e, err
		}
		if e = e.outOfRepetition(); e.depends() {
			return m.whileUnknown(s, e)
		}
		if e.over() {
			return e.outOfLoop(), nil
		}
	}
}

// carried is what a repetition hands on to the next one: what it added to the target, whether the loop was left and the function returned,
// the value of that, and the variables that the loop assigns to.
type carried struct {
	m     *Machine
	s     *syntax.While
	slots []*slot
	like  []value.Value // of the variables
	v     value.Value   // like the value that is returned; void for none
	err   error
}

// places in the list of what is carried
const (
	ofTarget = iota
	ofLeft
	ofReturned
	ofValues
)

// whileUnknown is the rest of a loop whose condition depends on parameters, after a repetition that may have left it.
func (m *Machine) whileUnknown(s *syntax.While, e end) (end, error) {
	c := &carried{m: m, s: s, v: e.v}
	names := map[string]bool{}
	assignedIn(s.Body, names)
	for n := range names {
		if sl := m.find(n); sl != nil {
			c.slots = append(c.slots, sl)
		}
	}
	slices.SortFunc(c.slots, func(x, y *slot) int { return m.place(x) - m.place(y) })
	for _, sl := range c.slots {
		c.like = append(c.like, sl.v)
	}
	if c.v.Type.Kind == typing.Void && returnsInside(s.Body) {
		p, err := m.explore(func() (end, error) { return m.block(s.Body) })
		if err != nil {
			return end{}, err
		}
		c.v = p.e.v
	}
	zero := ad.Scalar(0)
	l := leavingOf(e).each(leaving{zero, zero, zero}, ad.Add)
	begin := []*ad.Node{zero, ad.Add(l.broke, l.returned), l.returned}
	if e.v.Type.Kind != typing.Void {
		begin = append(begin, nodesOf(e.v)...)
	} else if c.v.Type.Kind != typing.Void {
		begin = append(begin, nodesOf(emptyLike(c.v))...)
	}
	for _, v := range c.like {
		begin = append(begin, nodesOf(v)...)
	}
	size := 0
	for _, n := range begin {
		size += n.Size()
	}
	most := min(mostRepetitions, max(1, mostCarried/size))
	m.explain(s.At(), "the condition depends on parameters: a loop of the graph, with at most %d repetitions", most)
	last, count := ad.While(c.holds, c.once, begin, most)
	if c.err != nil {
		return end{}, m.fault(s.At(), c.err)
	}
	if err := last[0].Err(); err != nil {
		return end{}, m.fault(s.At(), err)
	}
	m.at = s.At()
	m.term(last[ofTarget])
	m.term(m.ends(s, count, most))
	rest := last[ofValues:]
	var v value.Value
	if c.v.Type.Kind != typing.Void {
		v, rest = withNodes(c.v, rest)
	}
	for i, sl := range c.slots {
		m.log(sl)
		sl.v, rest = withNodes(c.like[i], rest)
		sl.v.Type, sl.owned = sl.typ, false
	}
	if v.Type.Kind == typing.Void && l.returned == zero && !returnsInside(s.Body) {
		return end{}, nil
	}
	return mixed(leaving{returned: last[ofReturned]}, v), nil
}

// endlessError is the error of a point at which a loop does not end.
type endlessError struct {
	where string
	most  int
}

func (e *endlessError) Error() string {
	return fmt.Sprintf("%s: the loop ran %d times, and a loop whose condition depends on parameters may not run as often: let the condition end it sooner, for instance by a second one on a counter, or bound the parameters", e.where, e.most)
}

// AtPoint marks the error as one of these parameter values, so that a sampler rejects the point.
func (e *endlessError) AtPoint() bool { return true }

// ends is 0 if a loop ended before its last repetition, and fails otherwise; in a branch, which may not be chosen, it is -Inf then.
func (m *Machine) ends(s *syntax.While, count *ad.Node, most int) *ad.Node {
	if m.logging {
		return ad.Where(ad.Less(count, ad.Scalar(float64(most))), ad.Scalar(0), ad.Scalar(math.Inf(-1)))
	}
	endless := &endlessError{fmt.Sprintf("%s, line %d", m.Prog.Source.Name, m.Prog.Source.Line(s.At())), most}
	return ad.Call(&ad.Custom{Name: "while",
		Shape: func(...tensor.Shape) (tensor.Shape, error) { return tensor.Shape{}, nil },
		Forward: func(_ []float64, in ...[]float64) error {
			if in[0][0] >= float64(most) {
				return endless
			}
			return nil
		},
		VJP: func(_, _ *ad.Node, x []*ad.Node) []*ad.Node { return make([]*ad.Node, len(x)) },
	}, count)
}

// returnsInside says whether a statement has a return in it.
func returnsInside(s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.Return:
		return true
	case *syntax.Block:
		return slices.ContainsFunc(s.List, returnsInside)
	case *syntax.If:
		return returnsInside(s.Then) || s.Else != nil && returnsInside(s.Else)
	case *syntax.For:
		return returnsInside(s.Body)
	case *syntax.While:
		return returnsInside(s.Body)
	case *syntax.Each:
		return returnsInside(s.Body)
	case *syntax.Profile:
		return returnsInside(s.Body)
	}
	return false
}

// with runs f while the variables have the values that are carried.
func (c *carried) with(carry []*ad.Node, f func() error) {
	if c.err != nil {
		return
	}
	rest := carry[ofValues:]
	if c.v.Type.Kind != typing.Void {
		_, rest = withNodes(c.v, rest)
	}
	for i, sl := range c.slots {
		v, owned := sl.v, sl.owned
		defer func() { sl.v, sl.owned = v, owned }()
		sl.v, rest = withNodes(c.like[i], rest)
		sl.v.Type, sl.owned = sl.typ, false
	}
	c.m.apart++
	c.err = f()
	c.m.apart--
}

// holds is the condition of the loop, unless that was left.
func (c *carried) holds(carry []*ad.Node) *ad.Node {
	out := ad.Scalar(0)
	c.with(carry, func() error {
		v, err := c.m.eval(c.s.Cond)
		if err == nil {
			out = ad.Where(carry[ofLeft], ad.Scalar(0), v.Node())
		}
		return err
	})
	return out
}

// once is a repetition.
func (c *carried) once(carry []*ad.Node) []*ad.Node {
	next := slices.Clone(carry)
	c.with(carry, func() error {
		p, err := c.m.explore(func() (end, error) { return c.m.block(c.s.Body) })
		if err != nil {
			return err
		}
		next = []*ad.Node{ad.Add(carry[ofTarget], p.added), ad.Scalar(0), ad.Scalar(0)}
		if p.e.way == rejected {
			next[ofTarget], next[ofLeft] = ad.Scalar(math.Inf(-1)), ad.Scalar(1)
		}
		l := leavingOf(p.e)
		if l.broke != nil {
			next[ofLeft] = ad.Add(next[ofLeft], l.broke)
		}
		if l.returned != nil {
			next[ofLeft], next[ofReturned] = ad.Add(next[ofLeft], l.returned), ad.Add(next[ofReturned], l.returned)
		}
		if c.v.Type.Kind != typing.Void {
			values := nodesOf(c.v)
			was := carry[ofValues : ofValues+len(values)]
			if p.e.v.Type.Kind != typing.Void {
				values = nodesOf(p.e.v)
			} else {
				values = was
			}
			for i, n := range values {
				if !n.Shape().Equal(was[i].Shape()) {
					return fmt.Errorf("the values that this loop returns have different sizes, %v and %v: return values of one size", was[i].Shape(), n.Shape())
				}
			}
			next = append(next, values...)
		}
		for i, sl := range c.slots {
			v, ok := p.changed[sl]
			if !ok {
				v = sl.v
			}
			if !sameSizes(v, c.like[i]) {
				return fmt.Errorf("%s changes its size in a loop whose condition depends on parameters: give it one size", sl.name)
			}
			next = append(next, nodesOf(v)...)
		}
		return nil
	})
	return next
}

// nodesOf lists the Nodes of a value: one, or those of its elements.
func nodesOf(v value.Value) (list []*ad.Node) {
	if v.Elems == nil && v.Type.Kind != typing.Tuple {
		return []*ad.Node{v.Node()}
	}
	for _, e := range v.Elems {
		list = append(list, nodesOf(e)...)
	}
	return list
}

// withNodes returns a value like another one with Nodes that are listed as nodesOf does, and the rest of these.
func withNodes(like value.Value, list []*ad.Node) (value.Value, []*ad.Node) {
	if like.Elems == nil && like.Type.Kind != typing.Tuple {
		return value.Of(like.Type, list[0], like.Shape...), list[1:]
	}
	like.Elems = slices.Clone(like.Elems)
	for i, e := range like.Elems {
		like.Elems[i], list = withNodes(e, list)
	}
	return like, list
}

// sameSizes says whether two values and their elements have the same sizes.
func sameSizes(a, b value.Value) bool {
	return slices.Equal(a.Shape, b.Shape) && slices.EqualFunc(a.Elems, b.Elems, sameSizes)
}

// emptyLike is a value of the same size, of zeros.
func emptyLike(v value.Value) value.Value {
	if v.Elems == nil && v.Type.Kind != typing.Tuple {
		return value.Known(v.Type, make([]float64, v.Size()), v.Shape...)
	}
	v.Elems = slices.Clone(v.Elems)
	for i, e := range v.Elems {
		v.Elems[i] = emptyLike(e)
	}
	return v
}
