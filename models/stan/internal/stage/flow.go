// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// log keeps what a slot was, so that it can be put back.
func (m *Machine) log(s *slot) {
	if m.logging {
		m.journal = append(m.journal, &change{s, s.v})
		s.owned = false
	}
}

// attempt runs f, and puts everything back if it fails.
func (m *Machine) attempt(f func() error) error {
	was, from := m.logging, len(m.journal)
	terms, known, notes, steps, values := len(m.terms), m.known, len(m.notes), m.steps, len(m.values)
	depth, lanes, observed := len(m.scope), m.lanes, len(m.observed)
	m.logging = true
	err := f()
	m.logging = was
	if err != nil {
		m.undo(from)
		m.terms, m.known, m.notes, m.steps = m.terms[:terms], known, m.notes[:notes], steps
		m.values = m.values[:values]
		m.scope, m.lanes, m.observed = m.scope[:depth], lanes, m.observed[:observed]
	}
	if !was {
		m.journal = m.journal[:0]
	}
	return err
}

func (m *Machine) undo(from int) {
	for i := len(m.journal) - 1; i >= from; i-- {
		c := m.journal[i]
		c.s.v, c.s.owned = c.v, false
	}
	m.journal = m.journal[:from]
}

// loop runs over integers: all repetitions at once where they do not depend on each other, and else one after another.
func (m *Machine) loop(s *syntax.For) (end, error) {
	lo, err := m.integer(s.Lo)
	if err != nil {
		return end{}, m.fault(s.Lo.At(), err)
	}
	hi, err := m.integer(s.Hi)
	if err != nil {
		return end{}, m.fault(s.Hi.At(), err)
	}
	if lo.Lanes > 0 || hi.Lanes > 0 {
		return m.ragged(s, lo, hi)
	}
	from, to := lo.Integer(), hi.Integer()
	few := m.unrolled > 0 && to-from < fewRepetitions // single numbers are faster than arrays of a few
	if m.graph && m.lanes == nil && to-from >= 2 && to-from < mostElements && !few && !m.stuck[s] && !jumps(s.Body) {
		index := make([]float64, to-from+1)
		for i := range index {
			index[i] = float64(from + i)
		}
		err := m.attempt(func() error {
			return m.atOnce(s.Name, value.Value{Type: typing.Of(typing.Int), F: index, Lanes: len(index)}, s.Body)
		})
		if err == nil {
			m.explain(s.At(), "the %d repetitions over %s run at once", to-from+1, s.Name)
			return end{}, nil
		}
		if !errors.Is(err, value.ErrUnroll) && !recoverable(err) {
			return end{}, err
		}
		m.stuck[s] = true
	}
	if m.graph && m.lanes == nil && to-from >= 2 {
		why := "since they depend on each other, or on sizes that differ"
		switch {
		case jumps(s.Body):
			why = "since one of them may be the last"
		case few && !m.stuck[s]:
			why = "which is faster for a few numbers"
		}
		m.explain(s.At(), "the %d repetitions over %s run one after another, %s", to-from+1, s.Name, why)
	}
	if m.graph && m.lanes == nil && to-from >= 2 {
		m.unrolled++
		defer func() { m.unrolled-- }()
	}
	e, err := m.repeat(s.At(), func(i int) (end, bool, error) {
		if from+i > to {
			return end{}, false, nil
		}
		e, err := m.once(s.Name, value.Int(from+i), s.Body)
		return e, true, err
	})
	return e.outOfLoop(), err
}

// fewRepetitions is the number of repetitions of a loop inside of one that is unrolled below which it is unrolled too.
const fewRepetitions = 8

// recoverable says whether a mistake may come from running repetitions at once: those that name a place come again if they are real.
func recoverable(err error) bool {
	var e *Error
	return errors.As(err, &e) && !e.Fatal
}

func (m *Machine) atOnce(name string, index value.Value, body syntax.Stmt) error {
	m.lanes = &lanes{n: index.Lanes}
	m.assigned = map[string]bool{}
	assignedIn(body, m.assigned)
	m.push()
	m.scope[len(m.scope)-1][name] = &slot{name: name, v: index, typ: typing.Of(typing.Int), lanes: m.lanes}
	last := m.privates(body)
	err := m.divided(func() error {
		e, err := m.block(body)
		if err == nil && (e.way != on || e.depends()) {
			err = value.ErrUnroll
		}
		return err
	})
	m.pop()
	m.lanes = nil
	if err == nil {
		last()
	}
	return err
}

// mostParts bounds the parts into which repetitions are divided.
const mostParts = 64

// divided runs f for the lanes, in several parts if sizes differ between them.
func (m *Machine) divided(f func() error) error {
	err := m.attempt(f)
	var s *value.Split
	if !errors.As(err, &s) || len(s.By) != m.lanes.n {
		return err
	}
	var keys []float64
	parts := map[float64][]int{}
	for l, k := range s.By {
		if parts[k] == nil {
			keys = append(keys, k)
		}
		parts[k] = append(parts[k], l)
	}
	if len(keys) > mostParts {
		return value.ErrUnroll
	}
	if len(keys) > 1 {
		m.explain(m.at, "repetitions run in %d parts, whose sizes differ", len(keys))
	}
	for _, k := range keys {
		if err := m.some(parts[k], f); err != nil {
			return err
		}
	}
	return nil
}

// once runs one repetition.
func (m *Machine) once(name string, v value.Value, body syntax.Stmt) (end, error) {
	if err := m.step(body.At()); err != nil {
		return end{}, err
	}
	m.push()
	m.scope[len(m.scope)-1][name] = &slot{name: name, v: v, typ: v.Type, lanes: m.lanes}
	e, err := m.block(body)
	m.pop()
	return e.outOfRepetition(), err
}

// ragged runs a loop whose ends differ between lanes.
func (m *Machine) ragged(s *syntax.For, lo, hi value.Value) (end, error) {
	if jumps(s.Body) {
		return end{}, value.ErrUnroll
	}
	lo, hi = lo.Spread(m.lanes.n), hi.Spread(m.lanes.n)
	most := 0
	for l := range m.lanes.n {
		most = max(most, int(hi.F[l]-lo.F[l])+1)
	}
	for k := range most {
		var at []int
		var index []float64
		for l := range m.lanes.n {
			if x := lo.F[l] + float64(k); x <= hi.F[l] {
				at, index = append(at, l), append(index, x)
			}
		}
		err := m.some(at, func() error {
			v := value.Value{Type: typing.Of(typing.Int), F: index, Lanes: len(index)}
			_, err := m.once(s.Name, v, s.Body)
			return err
		})
		if err != nil {
			return end{}, err
		}
	}
	return end{}, nil
}

// some runs f for some of the lanes.
func (m *Machine) some(at []int, f func() error) error {
	if len(at) == 0 {
		return nil
	}
	outer := m.lanes
	if len(at) == outer.n {
		return m.divided(f)
	}
	m.lanes = &lanes{n: len(at), up: outer, pick: at}
	err := m.divided(f)
	m.lanes = outer
	return err
}

// integer evaluates an expression whose value has to be known.
func (m *Machine) integer(x syntax.Expr) (value.Value, error) {
	v, err := m.eval(x)
	if err != nil {
		return v, err
	}
	if !v.Known() {
		return v, fmt.Errorf("%s: %w", m.Prog.Source.Text[x.At().From:x.At().To], errUnknown)
	}
	if v.Lanes > 0 {
		v = common(v)
	}
	return v, nil
}

// each runs over the elements of a container.
func (m *Machine) each(s *syntax.Each) (end, error) {
	over, err := m.eval(s.Over)
	if err != nil {
		return end{}, m.fault(s.Over.At(), err)
	}
	if over.Lanes > 0 {
		return end{}, value.ErrUnroll
	}
	n := over.Size()
	inner := 1
	t := over.Type
	var shape []int
	switch {
	case t.Kind == typing.Tuple:
		return m.eachOf(s, len(over.Elems), func(i int) value.Value { return over.Elems[i] })
	case t.Dims > 0:
		n, shape = over.Shape[0], over.Shape[1:]
		inner = value.Size(shape)
		t = t.Element()
	default:
		t = typing.Of(typing.Real)
		if over.Type.Kind.IsComplex() {
			t = typing.Of(typing.Complex)
		}
		if over.Type.Kind == typing.Matrix { // by columns
			if over, err = library.Transpose(over, over.Type); err != nil {
				return end{}, err
			}
		}
	}
	return m.eachOf(s, n, func(i int) value.Value {
		index := make([]int, inner)
		for k := range index {
			index[k] = i*inner + k
		}
		return over.Take(index, t, 0, shape...)
	})
}

// eachOf runs over n values.
func (m *Machine) eachOf(s *syntax.Each, n int, of func(i int) value.Value) (end, error) {
	e, err := m.repeat(s.At(), func(i int) (end, bool, error) {
		if i == n {
			return end{}, false, nil
		}
		e, err := m.once(s.Name, of(i), s.Body)
		return e, true, err
	})
	return e.outOfLoop(), err
}

// branch runs a condition.
func (m *Machine) branch(s *syntax.If) (end, error) {
	known, v, err := m.condition(s.Cond)
	if err != nil {
		return end{}, m.fault(s.Cond.At(), err)
	}
	if known {
		switch {
		case v.Number() != 0:
			return m.block(s.Then)
		case s.Else != nil:
			return m.block(s.Else)
		}
		return end{}, nil
	}
	if v.Known() { // by lanes
		var yes, no []int
		for l := range v.Lanes {
			if v.F[l] != 0 {
				yes = append(yes, l)
			} else {
				no = append(no, l)
			}
		}
		run := func(at []int, b syntax.Stmt) error {
			return m.some(at, func() error {
				e, err := m.block(b)
				if err == nil && (e.way != on || e.depends()) {
					err = value.ErrUnroll
				}
				return err
			})
		}
		if err := run(yes, s.Then); err != nil || s.Else == nil {
			return end{}, err
		}
		return end{}, run(no, s.Else)
	}
	return m.fork(s, v, nil)
}

// fork runs both branches of a condition on parameters, each with what follows it if they may leave the statements, and chooses between
// what they changed.
func (m *Machine) fork(s *syntax.If, cond value.Value, rest []syntax.Stmt) (end, error) {
	if m.lanes != nil {
		return end{}, value.ErrUnroll
	}
	if m.late {
		return end{}, errLate
	}
	m.explain(s.At(), "the condition depends on parameters: both branches are part of the graph, and one of them runs")
	then, err := m.explore(m.with(s.Then, rest))
	if err != nil {
		return end{}, err
	}
	otherwise, err := m.explore(m.with(s.Else, rest))
	if err != nil {
		return end{}, err
	}
	return m.merge(s.Cond.At(), cond.Node(), then, otherwise)
}

// with runs a branch and what follows it.
func (m *Machine) with(b syntax.Stmt, rest []syntax.Stmt) func() (end, error) {
	return func() (e end, err error) {
		if b != nil {
			e, err = m.block(b)
		}
		switch {
		case err != nil || len(rest) == 0 || e.over():
			return e, err
		case e.depends():
			return m.resume(b.At(), e, func() (end, error) { return m.list(rest) })
		}
		return m.list(rest)
	}
}

// path is what a branch led to.
type path struct {
	from    ad.Mark // the graph before it
	e       end
	changed map[*slot]value.Value
	added   *ad.Node
}

// explore runs a branch and puts back what it changed.
func (m *Machine) explore(run func() (end, error)) (p path, err error) {
	was, from := m.logging, len(m.journal)
	terms, known := m.terms, m.known
	m.terms, m.known, m.logging = nil, 0, true
	depth, observed := len(m.scope), len(m.observed)
	p.from = ad.Now()
	m.apart++
	p.e, err = run()
	m.apart--
	m.scope, m.observed = m.scope[:depth], m.observed[:observed] // what is observed under a condition on parameters is not judged
	p.changed = map[*slot]value.Value{}
	for _, c := range m.journal[from:] {
		p.changed[c.s] = c.s.v
	}
	m.undo(from)
	p.added = m.Target()
	m.terms, m.known, m.logging = terms, known, was
	return p, err
}

// merge chooses between what two branches led to.
func (m *Machine) merge(at syntax.Span, cond *ad.Node, a, b path) (end, error) {
	minus := ad.Scalar(math.Inf(-1))
	// a branch that rejects changes nothing but the target
	if a.e.way == rejected || b.e.way == rejected {
		if a.e.way == rejected && b.e.way == rejected {
			m.at = at
			m.term(minus)
			return end{way: rejected}, nil
		}
		other := b
		when := ad.NotEqual(cond, ad.Scalar(0))
		if b.e.way == rejected {
			other = a
			when = ad.Equal(cond, ad.Scalar(0))
		}
		m.at = at
		m.term(ad.Where(when, minus, other.added))
		for sl, v := range other.changed {
			m.log(sl)
			sl.v, sl.owned = v, false
		}
		return other.e, nil
	}
	slots := m.changedIn(a, b)
	of := func(p path, sl *slot) value.Value {
		if v, ok := p.changed[sl]; ok {
			return v
		}
		return sl.v
	}
	yes, no := []*ad.Node{a.added}, []*ad.Node{b.added}
	both := func(x, y value.Value) error {
		if !sameSizes(x, y) {
			return m.faultf(at, "the branches of this condition on parameters give a variable values of different sizes")
		}
		yes, no = append(yes, nodesOf(x)...), append(no, nodesOf(y)...)
		return nil
	}
	for _, sl := range slots {
		if err := both(of(a, sl), of(b, sl)); err != nil {
			return end{}, err
		}
	}
	v := a.e.v
	if a.e.way == on && !a.e.depends() {
		v = b.e.v
	}
	if v.Type.Kind != typing.Void {
		x, y := a.e.v, b.e.v
		if x.Type.Kind == typing.Void {
			x = emptyLike(v)
		}
		if y.Type.Kind == typing.Void {
			y = emptyLike(v)
		}
		if err := both(x, y); err != nil {
			return end{}, err
		}
	}
	out := ad.CondMade(cond, a.from, yes, b.from, no)
	if err := out[0].Err(); err != nil {
		return end{}, err
	}
	m.at = at
	m.term(out[0])
	rest := out[1:]
	for _, sl := range slots {
		m.log(sl)
		sl.v, rest = withNodes(of(a, sl), rest)
		sl.v.Type, sl.owned = sl.typ, false
	}
	if len(rest) > 0 {
		v, _ = withNodes(v, rest)
	}
	if a.e.way == b.e.way && !a.e.depends() && !b.e.depends() {
		return end{way: a.e.way, v: v}, nil
	}
	when := ad.NotEqual(cond, ad.Scalar(0))
	return mixed(leavingOf(a.e).each(leavingOf(b.e), func(x, y *ad.Node) *ad.Node { return ad.Where(when, x, y) }), v), nil
}

// changedIn lists the variables that one of two branches changed and that are still there, in order.
func (m *Machine) changedIn(a, b path) (slots []*slot) {
	seen := map[*slot]bool{}
	for _, c := range []map[*slot]value.Value{a.changed, b.changed} {
		for sl := range c {
			if !seen[sl] && m.reachable(sl) {
				seen[sl] = true
				slots = append(slots, sl)
			}
		}
	}
	slices.SortFunc(slots, func(x, y *slot) int { return m.place(x) - m.place(y) })
	return slots
}

// reachable says whether a slot is still a variable.
func (m *Machine) reachable(s *slot) bool { return m.place(s) >= 0 }

// place orders slots, by the scope and the name.
func (m *Machine) place(s *slot) int {
	for i, scope := range m.scope {
		for name, x := range scope {
			if x == s {
				h := 0
				for _, c := range name {
					h = (h*31 + int(c)) % 1_000_003
				}
				return i*1_000_003 + h
			}
		}
	}
	return -1
}

// choice is cond ? x : y.
func (m *Machine) choice(x *syntax.Choice) (value.Value, error) {
	known, c, err := m.condition(x.Cond)
	if err != nil {
		return c, err
	}
	if known {
		if c.Number() != 0 {
			v, err := m.eval(x.X)
			return v.As(x.Type()), err
		}
		v, err := m.eval(x.Y)
		return v.As(x.Type()), err
	}
	if c.Known() { // by lanes, each of which evaluates its own side only
		return m.chooseLanes(x, c)
	}
	then := ad.Now()
	a, err := m.side(x.X, c, true)
	if err != nil {
		return a, err
	}
	otherwise := ad.Now()
	b, err := m.side(x.Y, c, false)
	if err != nil {
		return b, err
	}
	if a, b = a.As(x.Type()), b.As(x.Type()); !sameSizes(a, b) || a.Elems != nil && (a.Lanes > 0 || b.Lanes > 0 || c.Lanes > 0) {
		return a, m.faultf(x.Cond.At(), "the values of this choice on parameters have different sizes: use values of one size")
	}
	out := value.Value{Type: x.Type(), Shape: a.Shape, Lanes: max(a.Lanes, b.Lanes, c.Lanes)}
	if out.Lanes == 0 {
		list := ad.CondMade(c.Node(), then, nodesOf(a), otherwise, nodesOf(b))
		if err := list[0].Err(); err != nil {
			return out, err
		}
		out, _ = withNodes(a, list)
		return out, nil
	}
	out.N = ad.Where(c.Spread(out.Lanes).Node(), a.Spread(out.Lanes).Node(), b.Spread(out.Lanes).Node())
	return out, out.N.Err()
}

// mask says which lanes want a side of a choice on parameters. What that side reads passes no gradient in others, where it may be NaN.
type mask struct {
	lanes *lanes
	want  value.Value
}

// side evaluates a side of a choice, which lanes want where c is not 0, or where it is.
func (m *Machine) side(x syntax.Expr, c value.Value, want bool) (value.Value, error) {
	if m.lanes == nil {
		return m.eval(x)
	}
	chosen := ad.NotEqual(c.Spread(m.lanes.n).Node(), ad.Scalar(0))
	if !want {
		chosen = ad.Sub(ad.Scalar(1), chosen)
	}
	m.masks = append(m.masks, mask{m.lanes, value.Value{Type: typing.Of(typing.Real), N: chosen, Lanes: m.lanes.n}})
	defer func() { m.masks = m.masks[:len(m.masks)-1] }()
	return m.eval(x)
}

// masked stops the gradient of what is read in lanes that do not want it.
func (m *Machine) masked(v value.Value, err error) (value.Value, error) {
	if len(m.masks) == 0 || m.lanes == nil || err != nil || v.Elems != nil || v.Known() || v.Size() == 0 {
		return v, err
	}
	for _, k := range m.masks {
		if k.lanes.root() != m.lanes.root() {
			continue
		}
		want := only(k.want, m.lanes.from(k.lanes))
		v = v.Spread(m.lanes.n)
		n := v.Node()
		shape := slices.Repeat([]int{1}, len(n.Shape()))
		shape[0] = m.lanes.n
		v = value.Value{Type: v.Type, Shape: v.Shape, Lanes: v.Lanes, N: ad.Where(ad.Reshape(want.Node(), shape...), n, ad.StopGradient(n))}
	}
	if v.N == nil {
		return v, nil
	}
	return v, v.N.Err()
}

// chooseLanes evaluates each side of a choice for the lanes that want it.
func (m *Machine) chooseLanes(x *syntax.Choice, c value.Value) (value.Value, error) {
	var parts []value.Value
	var order []int
	for _, want := range []bool{true, false} {
		var at []int
		for l := range c.Lanes {
			if (c.F[l] != 0) == want {
				at = append(at, l)
			}
		}
		if len(at) == 0 {
			continue
		}
		side := x.X
		if !want {
			side = x.Y
		}
		outer := m.lanes
		err := m.some(at, func() error {
			v, err := m.eval(side)
			if err != nil {
				return err
			}
			parts = append(parts, v.Spread(m.lanes.n))
			if m.lanes == outer {
				order = append(order, at...)
			} else {
				order = append(order, m.lanes.from(outer)...)
			}
			return nil
		})
		if err != nil {
			return value.Value{}, err
		}
	}
	first := parts[0]
	n := first.Size()
	out := value.Unset(typing.Of(typing.Real), first.Shape...).Spread(c.Lanes)
	done := 0
	for _, p := range parts {
		if p.Size() != n || p.Elems != nil {
			return first, value.ErrUnroll
		}
		var index []int
		for _, l := range order[done : done+p.Lanes] {
			for k := range n {
				index = append(index, l*n+k)
			}
		}
		out = out.Put(index, p, false)
		done += p.Lanes
	}
	out.Type = x.Type()
	return out, nil
}
