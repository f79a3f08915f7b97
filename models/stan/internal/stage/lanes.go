// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"slices"

	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// lanes are the repetitions of a loop that run at once.
type lanes struct {
	n    int
	up   *lanes // of which these are some
	pick []int  // their places there
}

// root is the loop to which lanes belong.
func (l *lanes) root() *lanes {
	for l != nil && l.up != nil {
		l = l.up
	}
	return l
}

// from returns the places of the lanes among those of an outer set.
func (l *lanes) from(outer *lanes) []int {
	if l == outer {
		return nil
	}
	at := slices.Clone(l.pick)
	for u := l.up; u != outer && u != nil; u = u.up {
		for i, k := range at {
			at[i] = u.pick[k]
		}
	}
	return at
}

// repetitions is how many lanes run.
func (m *Machine) repetitions() int {
	if m.lanes == nil {
		return 1
	}
	return m.lanes.n
}

// seen records which elements of a variable from outside a loop its repetitions read and wrote.
type seen struct {
	loop   *lanes
	writer map[int]int // element to lane
	reader map[int]int // element to lane; -1 for several
	whole  bool        // read as a whole, or by all lanes
	summed bool        // increased by each
}

// watch returns the record of a variable that was declared outside the running loop and is assigned to in it; nil for others.
func (m *Machine) watch(s *slot) *seen {
	if m.lanes == nil || !m.assigned[s.name] || s.lanes != nil && s.lanes.root() == m.lanes.root() {
		return nil
	}
	if s.seen == nil || s.seen.loop != m.lanes.root() {
		s.seen = &seen{loop: m.lanes.root()}
	}
	return s.seen
}

// readWhole notes that all elements of a variable are read.
func (m *Machine) readWhole(s *slot) error {
	w := m.watch(s)
	if w == nil {
		return nil
	}
	if len(w.writer) > 0 || w.summed {
		return value.ErrUnroll
	}
	w.whole = true
	return nil
}

// laneOf returns the number of a lane among those of the loop.
func (m *Machine) laneOf(l int) int {
	for c := m.lanes; c.up != nil; c = c.up {
		l = c.pick[l]
	}
	return l
}

// readAt notes which elements are read, by lane; one list stands for all lanes.
func (m *Machine) readAt(s *slot, by [][]int) error {
	w := m.watch(s)
	if w == nil {
		return nil
	}
	if w.summed {
		return value.ErrUnroll
	}
	if w.reader == nil {
		w.reader = map[int]int{}
	}
	if len(by) == 1 && m.lanes.n > 1 {
		for _, e := range by[0] {
			if _, ok := w.writer[e]; ok {
				return value.ErrUnroll
			}
			w.reader[e] = -1
		}
		return nil
	}
	for l, list := range by {
		lane := m.laneOf(l)
		for _, e := range list {
			if x, ok := w.writer[e]; ok && x != lane {
				return value.ErrUnroll
			}
			if x, ok := w.reader[e]; ok && x != lane {
				w.reader[e] = -1
			} else {
				w.reader[e] = lane
			}
		}
	}
	return nil
}

// writeAt notes which elements are written, by lane.
func (m *Machine) writeAt(s *slot, by [][]int) error {
	w := m.watch(s)
	if w == nil {
		return nil
	}
	if w.whole || w.summed || len(by) == 1 && m.lanes.n > 1 {
		return value.ErrUnroll
	}
	if w.writer == nil {
		w.writer = map[int]int{}
	}
	for l, list := range by {
		lane := m.laneOf(l)
		for _, e := range list {
			if x, ok := w.writer[e]; ok && x != lane {
				return value.ErrUnroll
			}
			if x, ok := w.reader[e]; ok && x != lane {
				return value.ErrUnroll
			}
			w.writer[e] = lane
		}
	}
	return nil
}

// inLanes returns the value of a slot for the lanes that run.
func (m *Machine) inLanes(s *slot, v value.Value) value.Value {
	if v.Lanes == 0 || m.lanes == nil || s.lanes == m.lanes {
		return v
	}
	return only(v, m.lanes.from(s.lanes))
}

// only returns some lanes of a value.
func only(v value.Value, at []int) value.Value {
	if at == nil {
		return v
	}
	if v.Elems != nil {
		v.Elems = slices.Clone(v.Elems)
		for i := range v.Elems {
			v.Elems[i] = only(v.Elems[i], at)
		}
		v.Lanes = len(at)
		return v
	}
	if v.Lanes == 0 {
		return v
	}
	n := v.Size()
	index := make([]int, 0, len(at)*n)
	for _, l := range at {
		for k := range n {
			index = append(index, l*n+k)
		}
	}
	return v.Take(index, v.Type, len(at), v.Shape...)
}

// set stores a value in a variable.
func (m *Machine) set(s *slot, v value.Value, owned bool) error {
	if m.watch(s) != nil {
		return value.ErrUnroll
	}
	if m.lanes != nil && s.lanes != m.lanes { // some lanes of a variable of the loop
		at := m.lanes.from(s.lanes)
		if v.Elems != nil {
			return value.ErrUnroll
		}
		old := s.v.Spread(s.lanes.n)
		v = v.Spread(m.lanes.n)
		if !slices.Equal(old.Shape, v.Shape) {
			return value.ErrUnroll
		}
		n := old.Size()
		var index []int
		for _, l := range at {
			for k := range n {
				index = append(index, l*n+k)
			}
		}
		v = old.Put(index, v, false)
		owned = true
	}
	m.log(s)
	v.Type = s.typ
	s.v, s.owned = v, owned
	return nil
}

// assignedIn collects the names that a statement assigns to.
func assignedIn(s syntax.Stmt, names map[string]bool) {
	switch s := s.(type) {
	case *syntax.Assign:
		var target func(x syntax.Expr)
		target = func(x syntax.Expr) {
			switch x := x.(type) {
			case *syntax.Name:
				names[x.Name] = true
			case *syntax.Index:
				target(x.X)
			case *syntax.Field:
				target(x.X)
			case *syntax.List:
				for _, i := range x.Items {
					target(i)
				}
			}
		}
		target(s.To)
	case *syntax.Block:
		for _, x := range s.List {
			assignedIn(x, names)
		}
	case *syntax.Profile:
		assignedIn(s.Body, names)
	case *syntax.If:
		assignedIn(s.Then, names)
		if s.Else != nil {
			assignedIn(s.Else, names)
		}
	case *syntax.For:
		assignedIn(s.Body, names)
	case *syntax.Each:
		assignedIn(s.Body, names)
	case *syntax.While:
		assignedIn(s.Body, names)
	}
}
