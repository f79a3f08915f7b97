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
		done, err := false, error(nil)
		if !repeats(s) { // loops try by themselves
			done, err = m.runPlainly(s)
		}
		if err == nil && !done {
			_, err = m.statement(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runPlainly runs a statement as a Go function if it can be one and ends well.
func (m *Machine) runPlainly(s syntax.Stmt) (done bool, err error) {
	if p := m.plainly(s); p != nil {
		return p.runOn(m)
	}
	return false, nil
}

// plainStatements are the statements on known numbers of a program that run without a Machine, for all Machines of it.
type plainStatements struct {
	mu        sync.Mutex
	by        map[syntax.Stmt]*plainStatement
	functions map[*syntax.Function]*plainCallee
}

// plainly returns a statement as a Go function; nil if it cannot be one. Declarations are left to the Machine.
func (m *Machine) plainly(s syntax.Stmt) *plainStatement {
	if _, ok := s.(*syntax.Declare); ok {
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

// repeats says whether a statement is a loop.
func repeats(s syntax.Stmt) bool {
	switch s.(type) {
	case *syntax.For, *syntax.Each, *syntax.While:
		return true
	}
	return false
}

// repeated runs a loop: on known numbers as a Go function where that is possible. Loops inside of one that runs repetition by repetition are
// left to the Machine, since each run of a Go function copies the containers that it assigns to.
func (m *Machine) repeated(s syntax.Stmt) (end, error) {
	if !m.graph && !m.repeating {
		if done, err := m.runPlainly(s); done || err != nil {
			return end{}, err
		}
		m.repeating = true
		defer func() { m.repeating = false }()
	}
	switch s := s.(type) {
	case *syntax.For:
		return m.loop(s)
	case *syntax.Each:
		return m.each(s)
	}
	return m.while(s.(*syntax.While))
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
	d.Out, d.compiled, d.plains = m.Out, &kept.calls, m.plains
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
