// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"errors"
	"sync"

	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// Graph says whether values may depend on parameters.
func (m *Machine) Graph(on bool) { m.graph = on }

// Declared returns the value of a variable of a block, and whether it is known only as draws are written.
func (m *Machine) Declared(name string) (v value.Value, late bool) {
	s := m.scope[0][name]
	s.v = s.v.Settle()
	return s.v, s.late
}

// Shape evaluates the sizes of a declared variable.
func (m *Machine) Shape(d *syntax.Declare) ([]int, error) {
	s, err := m.shape(d.Type)
	return s, m.fault(d.At(), err)
}

// Layout evaluates the sizes of a declaration and those of the elements of a tuple.
func (m *Machine) Layout(d *syntax.Declare) (Param, error) {
	p, err := m.Param(d, d.Type)
	return p, m.fault(d.At(), err)
}

// Density runs the statements of the model block.
func (m *Machine) Density(list []syntax.Stmt) error {
	m.push()
	defer m.pop()
	return m.Run(list)
}

// Quantities traces the statements of generated quantities into the graph as far as they go. What is left is returned: it runs for each draw.
func (m *Machine) Quantities(list []syntax.Stmt) (late []syntax.Stmt, err error) {
	read := map[string]bool{} // by late statements
	terms, known := m.terms, m.known
	defer func() { m.terms, m.known = terms, known }()
	for _, s := range list {
		if d, ok := s.(*syntax.Declare); ok {
			err := m.attempt(func() error { _, err := m.statement(s); return err })
			if err == nil {
				continue
			}
			if !postponed(err) {
				return nil, err
			}
			v, e := m.unset(d.Type)
			if e != nil {
				return nil, m.fault(d.At(), e)
			}
			m.scope[0][d.Name] = &slot{name: d.Name, v: v, typ: d.Unsized, late: true}
			namesIn(s, read)
			late = append(late, s)
			continue
		}
		names := map[string]bool{}
		assignedIn(s, names)
		wait := false
		for n := range names {
			wait = wait || read[n]
		}
		if !wait {
			m.late = true
			err := m.attempt(func() error { _, err := m.statement(s); return err })
			m.late = false
			if err == nil {
				continue
			}
			if !postponed(err) {
				return nil, err
			}
		}
		for n := range names {
			if sl := m.scope[0][n]; sl != nil {
				sl.late = true
			}
		}
		namesIn(s, read)
		late = append(late, s)
	}
	return late, nil
}

// postponed says whether a statement can run for each draw after this error.
func postponed(err error) bool {
	if errors.Is(err, errLate) || errors.Is(err, errUnknown) || errors.Is(err, value.ErrUnroll) {
		return true
	}
	var e *Error
	return errors.As(err, &e) && !e.Fatal // comes again, with the numbers of the draw
}

// RunLate runs statements for a draw, on known numbers.
func (m *Machine) RunLate(list []syntax.Stmt) error {
	for _, s := range list {
		if d, ok := s.(*syntax.Declare); ok {
			if sl := m.scope[0][d.Name]; sl != nil {
				sl.late = false
			}
		}
		if p := m.plainly(s); p != nil && p.runOn(m) {
			continue
		}
		if _, err := m.statement(s); err != nil {
			return err
		}
	}
	return nil
}

// plainStatements are the late statements of a program that run without a Machine, for all machines of draws.
type plainStatements struct {
	mu sync.Mutex
	by map[syntax.Stmt]*plainStatement
}

// plainly returns a statement as a Go function; nil if it cannot be one. Declarations are left to the Machine.
func (m *Machine) plainly(s syntax.Stmt) *plainStatement {
	if _, ok := s.(*syntax.Declare); ok || m.plains == nil {
		return nil
	}
	m.plains.mu.Lock()
	defer m.plains.mu.Unlock()
	p, ok := m.plains.by[s]
	if !ok {
		p = m.plain(s)
		m.plains.by[s] = p
	}
	return p
}

// Variables returns the values of all variables of blocks.
func (m *Machine) Variables() map[string]value.Value {
	out := map[string]value.Value{}
	for n, s := range m.scope[0] {
		s.v = s.v.Settle()
		out[n] = s.v
	}
	return out
}

// Draw returns a machine that runs late statements on the numbers of draws, with what those of the same chain have kept.
func (m *Machine) Draw(kept *Kept) *Machine {
	d := New(m.Prog)
	d.Out, d.compiled, d.plains = m.Out, &kept.calls, m.ofDraws
	for n, s := range m.scope[0] {
		d.scope[0][n] = &slot{name: n, v: s.v, typ: s.typ}
	}
	return d
}

// namesIn collects all names of a statement.
func namesIn(s syntax.Stmt, names map[string]bool) {
	syntax.Walk(s, func(x syntax.Expr) {
		if n, ok := x.(*syntax.Name); ok {
			names[n.Name] = true
		}
	})
}
