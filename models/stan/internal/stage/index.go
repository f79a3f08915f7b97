// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// axis is a dimension of a view: all of it, or places by lane, with one list for all lanes if they agree.
type axis struct {
	n, stride int
	at        [][]int
}

// view says which elements of a container an index takes.
type view struct {
	base []int // where it starts, by lane; one number for all lanes
	axes []axis
}

func wholeView(shape []int) view {
	v := view{base: []int{0}}
	stride := 1
	v.axes = make([]axis, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		v.axes[i] = axis{n: shape[i], stride: stride}
		stride *= shape[i]
	}
	return v
}

func (v view) shape() []int {
	s := make([]int, len(v.axes))
	for i, a := range v.axes {
		s[i] = a.n
	}
	return s
}

// byLane returns the i-th of values that are the same for all lanes, or not.
func byLane[T any](list []T, lane int) T {
	if len(list) == 1 {
		return list[0]
	}
	return list[lane]
}

// places lists the elements of a view in their order, for a lane.
func (v view) places(lane int) []int {
	out := []int{byLane(v.base, lane)}
	for _, a := range v.axes {
		var list []int
		if a.at != nil {
			list = byLane(a.at, lane)
		}
		next := make([]int, 0, len(out)*a.n)
		for _, o := range out {
			for k := range a.n {
				p := k
				if list != nil {
					p = list[k]
				}
				next = append(next, o+p*a.stride)
			}
		}
		out = next
	}
	return out
}

// lanes is how many lanes a view distinguishes; 1 for none.
func (v view) lanes() int {
	n := len(v.base)
	for _, a := range v.axes {
		n = max(n, len(a.at))
	}
	return n
}

// all lists the elements by lane; one list for all lanes if they agree.
func (v view) all() [][]int {
	out := make([][]int, v.lanes())
	for l := range out {
		out[l] = v.places(l)
	}
	return out
}

// index applies indices to a view.
func (m *Machine) index(v view, list []syntax.Place) (view, error) {
	if len(list) > len(v.axes) {
		return v, fmt.Errorf("there are %d indices, and %d dimensions: remove the last ones", len(list), len(v.axes))
	}
	out := view{base: slices.Clone(v.base)}
	for i, p := range list {
		a := v.axes[i]
		if p.Single == nil {
			b, err := m.rangeOf(a, p)
			if err != nil {
				return v, err
			}
			out.axes = append(out.axes, b)
			continue
		}
		x, err := m.integer(p.Single)
		if err != nil {
			return v, err
		}
		lanes := max(1, x.Lanes)
		n := x.Size()
		lists := make([][]int, lanes)
		for l := range lists {
			for k := range n {
				j := int(x.F[l*n+k])
				if j < 1 || j > a.n {
					return v, fmt.Errorf("index %d is out of range: %s has to be from 1 to %d here: check the loop or the size", j, m.Prog.Source.Text[p.Span.From:p.Span.To], a.n)
				}
				j--
				if a.at != nil {
					j = byLane(a.at, l)[j]
				}
				lists[l] = append(lists[l], j)
			}
		}
		if p.Single.Type().Dims == 0 { // takes the dimension away
			base := make([]int, max(lanes, len(out.base)))
			for l := range base {
				base[l] = byLane(out.base, l) + byLane(lists, l)[0]*a.stride
			}
			out.base = base
			continue
		}
		out.axes = append(out.axes, axis{n: n, stride: a.stride, at: lists})
	}
	out.axes = append(out.axes, v.axes[len(list):]...)
	return out, nil
}

// rangeOf applies a range to a dimension.
func (m *Machine) rangeOf(a axis, p syntax.Place) (axis, error) {
	if p.Lo == nil && p.Hi == nil {
		return a, nil
	}
	lo, hi := value.Int(1), value.Int(a.n)
	var err error
	if p.Lo != nil {
		if lo, err = m.integer(p.Lo); err != nil {
			return a, err
		}
	}
	if p.Hi != nil {
		if hi, err = m.integer(p.Hi); err != nil {
			return a, err
		}
	}
	lanes := max(1, lo.Lanes, hi.Lanes)
	out := axis{stride: a.stride}
	lengths := make([]float64, lanes)
	for l := range lengths {
		lengths[l] = max(0, byLane(hi.F, l)-byLane(lo.F, l)+1)
	}
	for l := range lanes {
		i, j := int(byLane(lo.F, l)), int(byLane(hi.F, l))
		n := max(0, j-i+1)
		if n > 0 && (i < 1 || j > a.n) {
			return a, fmt.Errorf("the range %d:%d is out of range: the size is %d, use indices from 1 to it", i, j, a.n)
		}
		if l > 0 && n != out.n {
			return a, &value.Split{By: lengths}
		}
		out.n = n
		at := make([]int, n)
		for k := range at {
			at[k] = i - 1 + k
			if a.at != nil {
				at[k] = byLane(a.at, l)[at[k]]
			}
		}
		out.at = append(out.at, at)
	}
	return out, nil
}

// element evaluates an index.
func (m *Machine) element(x *syntax.Index) (value.Value, error) {
	var base value.Value
	var s *slot
	lists := [][]syntax.Place{x.List}
	root := x.X
	for { // indices of indices apply to the same container
		i, ok := root.(*syntax.Index)
		if !ok {
			break
		}
		lists = append(lists, i.List)
		root = i.X
	}
	if n, ok := root.(*syntax.Name); ok {
		s = m.find(n.Name)
	}
	if s != nil {
		if s.late {
			return base, errLate
		}
		base = m.inLanes(s, s.v)
	} else {
		var err error
		if base, err = m.eval(root); err != nil {
			return base, err
		}
	}
	if base.Type.Kind == typing.Tuple {
		return m.tupleElement(base, lists)
	}
	if v, ok := m.number(x, base); ok {
		return v, nil
	}
	slices.Reverse(lists)
	v := wholeView(base.Shape)
	for k, list := range lists {
		w, err := m.index(v, list)
		if err != nil {
			if errorIsUnknown(err) && k == 0 && len(lists) == 1 && s != nil {
				return m.dynamic(x, base)
			}
			return base, err
		}
		v = w
	}
	if s != nil {
		if err := m.readAt(s, v.all()); err != nil {
			return base, err
		}
	}
	return m.takeView(base, v, x.Type()), nil
}

// number is the fast way to one number of a known container by known indices; ok is false where it does not lead there.
func (m *Machine) number(x *syntax.Index, base value.Value) (v value.Value, ok bool) {
	if m.lanes != nil || base.F == nil || base.Elems != nil || !base.Known() || len(x.List) != len(base.Shape) {
		return v, false
	}
	if _, nested := x.X.(*syntax.Index); nested {
		return v, false
	}
	at := 0
	for i, p := range x.List {
		if p.Single == nil || p.Single.Type().Dims > 0 {
			return v, false
		}
		k, err := m.eval(p.Single)
		if err != nil || !k.Known() || k.F[0] < 1 || k.F[0] > float64(base.Shape[i]) {
			return v, false // the general way says what is wrong
		}
		at = at*base.Shape[i] + int(k.F[0]) - 1
	}
	return value.Value{Type: x.Type(), F: []float64{base.F[at]}}, true
}

// takeView returns the elements of a view.
func (m *Machine) takeView(base value.Value, v view, t typing.Type) value.Value {
	lanes := 0
	if v.lanes() > 1 || base.Lanes > 0 {
		lanes = max(v.lanes(), base.Lanes)
	} else if m.lanes != nil && m.lanes.n == 1 && (len(v.base) == 1) && base.Lanes == 0 {
		lanes = 0
	}
	if lanes == 0 {
		return base.Take(v.places(0), t, 0, v.shape()...)
	}
	size := base.Size()
	var index []int
	for l := range lanes {
		off := 0
		if base.Lanes > 0 {
			off = l * size
		}
		for _, p := range v.places(min(l, v.lanes()-1)) {
			index = append(index, off+p)
		}
	}
	return base.Take(index, t, lanes, v.shape()...)
}

// dynamic is an index that depends on parameters.
func (m *Machine) dynamic(x *syntax.Index, base value.Value) (value.Value, error) {
	if m.lanes != nil || len(x.List) != 1 || x.List[0].Single == nil || base.Type.Kind.IsComplex() {
		return base, fmt.Errorf("this index %w", errUnknown)
	}
	i, err := m.eval(x.List[0].Single)
	if err != nil {
		return base, err
	}
	at := ad.FloorIndex(ad.Shift(i.Node(), -1))
	n := ad.Gather(base.Node(), at, 0)
	shape := base.Shape[1:]
	if len(i.Shape) > 0 {
		shape = append([]int{i.Shape[0]}, shape...)
	}
	return value.Of(x.Type(), n, shape...), n.Err()
}

// tupleElement indexes arrays of tuples, one index at a time.
func (m *Machine) tupleElement(v value.Value, lists [][]syntax.Place) (value.Value, error) {
	for k := len(lists) - 1; k >= 0; k-- {
		for _, p := range lists[k] {
			if p.Single == nil || p.Single.Type().Dims > 0 {
				return v, fmt.Errorf("arrays of tuples are indexed by single numbers: use a loop")
			}
			i, err := m.integer(p.Single)
			if err != nil {
				return v, err
			}
			if i.Lanes > 0 {
				return v, value.ErrUnroll
			}
			if n := i.Integer(); n < 1 || n > len(v.Elems) {
				return v, fmt.Errorf("index %d is out of range: the size is %d, use one from 1 to it", n, len(v.Elems))
			}
			v = v.Elems[i.Integer()-1]
		}
	}
	return v, nil
}

// assignment runs x op y.
func (m *Machine) assignment(s *syntax.Assign) error {
	v, err := m.eval(s.From)
	if err != nil {
		return err
	}
	m.steps += len(v.F)
	m.note(s.At(), v)
	if l, ok := s.To.(*syntax.List); ok {
		for i, to := range l.Items {
			if err := m.assign(to, v.Elems[i], ""); err != nil {
				return err
			}
		}
		return nil
	}
	return m.assign(s.To, v, s.Op)
}

// assign stores a value where an expression points, after an operator has been applied to what is there.
func (m *Machine) assign(to syntax.Expr, v value.Value, op string) error {
	switch to := to.(type) {
	case *syntax.Name:
		s := m.find(to.Name)
		if s.late {
			return errLate
		}
		if op == "+" && m.watch(s) != nil {
			return m.increase(s, v)
		}
		if op != "" {
			old, err := m.eval(to)
			if err != nil {
				return err
			}
			if v, err = library.Operator(op, old, v, to.Type()); err != nil {
				return err
			}
		}
		v = v.As(s.typ)
		if s.typ.Kind != typing.Tuple && !slices.Equal(s.v.Shape, v.Shape) {
			if value.Size(s.v.Shape) == 0 && v.Size() == 0 {
				v.Shape = s.v.Shape
			} else {
				return fmt.Errorf("assigned to %s of size %v is a value of size %v: give both the same size", to.Name, s.v.Shape, v.Shape)
			}
		}
		return m.set(s, v, false)
	case *syntax.Field:
		old, err := m.eval(to.X)
		if err != nil {
			return err
		}
		old.Elems = slices.Clone(old.Elems)
		if op != "" {
			if v, err = library.Operator(op, old.Elems[to.N-1], v, to.Type()); err != nil {
				return err
			}
		}
		old.Elems[to.N-1] = v.As(to.Type())
		return m.assign(to.X, old, "")
	case *syntax.Index:
		return m.assignElement(to, v, op)
	}
	return fmt.Errorf("this cannot be assigned to")
}

// increase adds what all repetitions of a loop add to a variable from outside.
func (m *Machine) increase(s *slot, v value.Value) error {
	w := m.watch(s)
	if w.whole || len(w.writer) > 0 || len(w.reader) > 0 || len(s.v.Shape) > 0 || s.v.Elems != nil || s.typ.Kind == typing.Int {
		return value.ErrUnroll
	}
	w.summed = true
	n := v.Spread(m.lanes.n)
	var sum value.Value
	if n.Known() {
		t := 0.0
		for _, x := range n.F {
			t += x
		}
		sum = value.Real(t)
	} else {
		sum = value.Of(typing.Of(typing.Real), ad.Sum(n.Node()))
	}
	out, err := library.Operator("+", s.v, sum, s.typ)
	if err != nil {
		return err
	}
	m.log(s)
	s.v, s.owned = out, false
	return nil
}

func (m *Machine) assignElement(to *syntax.Index, x value.Value, op string) error {
	lists := [][]syntax.Place{to.List}
	root := to.X
	for {
		i, ok := root.(*syntax.Index)
		if !ok {
			break
		}
		lists = append(lists, i.List)
		root = i.X
	}
	if root.Type().Kind == typing.Tuple {
		return m.assignTuple(root, lists, x, op)
	}
	slices.Reverse(lists)
	n, named := root.(*syntax.Name)
	var s *slot
	var base value.Value
	if named {
		s = m.find(n.Name)
		if s.late {
			return errLate
		}
		base = s.v
		if s.lanes != m.lanes || base.Lanes == 0 {
			base = m.inLanes(s, base)
		}
	} else {
		var err error
		if base, err = m.eval(root); err != nil {
			return err
		}
	}
	v := wholeView(base.Shape)
	for _, list := range lists {
		w, err := m.index(v, list)
		if err != nil {
			return err
		}
		v = w
	}
	if op != "" {
		if s != nil {
			if err := m.readAt(s, v.all()); err != nil {
				return err
			}
		}
		var err error
		if x, err = library.Operator(op, m.takeView(base, v, to.Type()), x, to.Type()); err != nil {
			return err
		}
	}
	if shape := v.shape(); !slices.Equal(shape, x.Shape) {
		if value.Size(shape) == 0 && x.Size() == 0 {
			return nil
		}
		return fmt.Errorf("elements of size %v are assigned a value of size %v: give both the same size", shape, x.Shape)
	}
	if !named {
		return m.assign(root, base.Put(v.places(0), x.As(to.Type()), false), "")
	}
	return m.putElements(s, base, v, x)
}

// putElements stores elements of a variable, for the lanes that run.
func (m *Machine) putElements(s *slot, base value.Value, v view, x value.Value) error {
	if m.lanes == nil {
		m.log(s)
		out := s.v.Put(v.places(0), x, s.owned)
		out.Type = s.typ
		s.v, s.owned = out, true
		return nil
	}
	if m.watch(s) != nil { // of a variable from outside: each lane its own elements
		by := v.all()
		if err := m.writeAt(s, by); err != nil {
			return err
		}
		x = x.Spread(m.lanes.n)
		var index []int
		for l := range m.lanes.n {
			index = append(index, byLane(by, l)...)
		}
		m.log(s)
		out := s.v.Put(index, x, false)
		out.Type = s.typ
		s.v = out
		return nil
	}
	if x.Lanes == 0 && v.lanes() == 1 && s.v.Lanes == 0 && s.lanes == m.lanes { // the same for all lanes
		m.log(s)
		out := s.v.Put(v.places(0), x, s.owned && !m.logging)
		out.Type = s.typ
		s.v, s.owned = out, true
		return nil
	}
	full := s.v.Spread(s.lanes.n)
	at := m.lanes.from(s.lanes)
	x = x.Spread(m.lanes.n)
	size := full.Size()
	var index []int
	for l := range m.lanes.n {
		k := l
		if at != nil {
			k = at[l]
		}
		for _, p := range v.places(min(l, v.lanes()-1)) {
			index = append(index, k*size+p)
		}
	}
	m.log(s)
	out := full.Put(index, x, false)
	out.Type = s.typ
	s.v, s.owned = out, false
	return nil
}

// assignTuple stores an element of an array of tuples.
func (m *Machine) assignTuple(root syntax.Expr, lists [][]syntax.Place, x value.Value, op string) error {
	v, err := m.eval(root)
	if err != nil {
		return err
	}
	var places []syntax.Place
	for k := len(lists) - 1; k >= 0; k-- {
		places = append(places, lists[k]...)
	}
	var put func(v value.Value, places []syntax.Place) (value.Value, error)
	put = func(v value.Value, places []syntax.Place) (value.Value, error) {
		if len(places) == 0 {
			return x, nil
		}
		if places[0].Single == nil {
			return v, fmt.Errorf("arrays of tuples are indexed by single numbers: use a loop")
		}
		i, err := m.integer(places[0].Single)
		if err != nil {
			return v, err
		}
		if i.Lanes > 0 || i.Integer() < 1 || i.Integer() > len(v.Elems) {
			return v, fmt.Errorf("index %d is out of range: the size is %d, use one from 1 to it", i.Integer(), len(v.Elems))
		}
		v.Elems = slices.Clone(v.Elems)
		v.Elems[i.Integer()-1], err = put(v.Elems[i.Integer()-1], places[1:])
		return v, err
	}
	if v, err = put(v, places); err != nil {
		return err
	}
	return m.assign(root, v, "")
}
