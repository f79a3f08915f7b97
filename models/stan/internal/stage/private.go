// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// privates gives the repetitions of a loop that run at once variables of their own in place of those from outside that each of them fills
// before it reads them. It returns a function that passes the values of the last repetition on.
func (m *Machine) privates(body syntax.Stmt) (last func()) {
	inner := m.scope[len(m.scope)-1]
	own := map[*slot]*slot{}
	for name := range m.assigned {
		s := m.find(name)
		if s == nil || s.late || s.v.Elems != nil || s.typ.Kind == typing.Int || len(s.v.Shape) > 1 || !m.fillsFirst(body, name, s.v.Shape) {
			continue
		}
		own[s] = &slot{name: name, v: value.Unset(s.typ, s.v.Shape...), typ: s.typ, owned: true, lanes: m.lanes}
	}
	for s, p := range own {
		inner[s.name] = p
		delete(m.assigned, s.name)
	}
	n := m.lanes.n
	return func() {
		for s, p := range own {
			v := p.v
			if v.Lanes > 0 {
				v = only(v, []int{n - 1})
				v.Lanes = 0
				if v.N != nil {
					v = v.Reshape(v.Type, v.Shape...)
				}
			}
			m.log(s)
			s.v, s.owned = v, false
		}
	}
}

// fillsFirst says whether a statement gives all elements of a variable values before it reads any.
func (m *Machine) fillsFirst(s syntax.Stmt, name string, shape []int) bool {
	list := []syntax.Stmt{s}
	if b, ok := s.(*syntax.Block); ok {
		list = b.List
	}
	for _, s := range list {
		if !mentions(s, name) {
			continue
		}
		switch s := s.(type) {
		case *syntax.Block:
			return m.fillsFirst(s, name, shape)
		case *syntax.Assign:
			to, ok := s.To.(*syntax.Name)
			return ok && to.Name == name && s.Op == "" && !mentioned(s.From, name)
		case *syntax.For:
			return len(shape) == 1 && m.runsOver(s, shape[0]) && fillsElement(s.Body, name, s.Name)
		}
		return false
	}
	return false
}

// runsOver says whether a loop runs from 1 to n.
func (m *Machine) runsOver(s *syntax.For, n int) bool {
	lo, err := m.integer(s.Lo)
	if err != nil {
		return false
	}
	hi, err := m.integer(s.Hi)
	return err == nil && lo.Lanes == 0 && hi.Lanes == 0 && lo.Integer() == 1 && hi.Integer() == n
}

// fillsElement says whether a statement gives the element with an index a value before it reads the variable.
func fillsElement(s syntax.Stmt, name, index string) bool {
	list := []syntax.Stmt{s}
	if b, ok := s.(*syntax.Block); ok {
		list = b.List
	}
	for _, s := range list {
		if !mentions(s, name) {
			continue
		}
		a, ok := s.(*syntax.Assign)
		if !ok || a.Op != "" || mentioned(a.From, name) {
			return false
		}
		to, ok := a.To.(*syntax.Index)
		if !ok || len(to.List) != 1 || to.List[0].Single == nil {
			return false
		}
		x, isName := to.X.(*syntax.Name)
		i, isIndex := to.List[0].Single.(*syntax.Name)
		return isName && isIndex && x.Name == name && i.Name == index
	}
	return false
}

// mentions says whether a statement has a name in it.
func mentions(s syntax.Stmt, name string) (found bool) {
	syntax.Walk(s, func(x syntax.Expr) {
		if n, ok := x.(*syntax.Name); ok && n.Name == name {
			found = true
		}
	})
	return found
}

// mentioned says whether an expression has a name in it.
func mentioned(x syntax.Expr, name string) bool { return mentions(&syntax.Return{X: x}, name) }
