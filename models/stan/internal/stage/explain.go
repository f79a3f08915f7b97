// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// note is what the staging did with a statement.
type note struct {
	line int
	text string
}

// explain notes what the staging did with a statement.
func (m *Machine) explain(at syntax.Span, format string, args ...any) {
	if m.graph {
		m.notes = append(m.notes, note{m.Prog.Source.Line(at), fmt.Sprintf(format, args...)})
	}
}

// Explain says what the staging did, by line. Statements that run several times are told once.
func (m *Machine) Explain() (list []string) {
	times := map[note]int{}
	var order []note
	for _, n := range m.notes {
		if times[n]++; times[n] == 1 {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b note) int { return cmp.Compare(a.line, b.line) })
	for _, n := range order {
		text := fmt.Sprintf("line %d: %s", n.line, n.text)
		if k := times[n]; k > 1 {
			text += fmt.Sprintf(" (%d times)", k)
		}
		list = append(list, text)
	}
	return list
}

// Explained takes over what the staging by another machine did.
func (m *Machine) Explained(o *Machine) { m.notes = slices.Clone(o.notes) }

// ExplainLate says how statements of generated quantities run for each draw.
func (m *Machine) ExplainLate(list []syntax.Stmt) {
	m.graph = true
	defer func() { m.graph = false }()
	for _, s := range list {
		switch {
		case isDeclaration(s):
		case m.plain(s) != nil:
			m.explain(s.At(), "runs for each draw, as a Go function")
		default:
			m.explain(s.At(), "runs for each draw, statement by statement")
		}
	}
}

func isDeclaration(s syntax.Stmt) bool {
	_, ok := s.(*syntax.Declare)
	return ok
}

// Term is a part of the target that a statement adds, or a value that it assigns.
type Term struct {
	Node *ad.Node
	at   syntax.Span
}

// mostNoted bounds the values of assignments that are noted.
const mostNoted = 10_000

// note notes what a statement assigns.
func (m *Machine) note(at syntax.Span, v value.Value) {
	if m.graph && !m.late && m.apart == 0 && len(m.masks) == 0 && len(m.values) < mostNoted && v.Elems == nil && !v.Known() && v.Size() > 0 {
		m.values = append(m.values, Term{v.Node(), at})
	}
}

// Assigned lists what statements assign, in order, as far as it depends on parameters and is not chosen by conditions on them.
func (m *Machine) Assigned() []Term { return m.values }

// Terms lists the parts of the target that statements add, in order.
func (m *Machine) Terms() (list []Term) {
	for _, n := range m.terms {
		if at, ok := m.origin[n]; ok {
			list = append(list, Term{n, at})
		}
	}
	return list
}

// Where names the place of a term and quotes its first line.
func (m *Machine) Where(t Term) string {
	text, _, more := strings.Cut(m.Prog.Source.Text[t.at.From:t.at.To], "\n")
	if r := []rune(text); len(r) > mostQuoted {
		text, more = string(r[:mostQuoted]), true
	}
	text = strings.TrimRight(text, "; ")
	if more {
		text += " ..."
	}
	return fmt.Sprintf("%s, line %d: %s", m.Prog.Source.Name, m.Prog.Source.Line(t.at), text)
}

// mostQuoted is how many letters of a statement are quoted.
const mostQuoted = 80
