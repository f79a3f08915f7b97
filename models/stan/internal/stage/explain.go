// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
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
