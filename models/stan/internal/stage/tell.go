// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// tell runs print, reject and fatal_error.
func (m *Machine) tell(s *syntax.Tell) (end, error) {
	var b strings.Builder
	for _, a := range s.Args {
		if t, ok := a.(*syntax.Text); ok {
			b.WriteString(unescape(t.Value))
			continue
		}
		v, err := m.eval(a)
		if err != nil {
			return end{}, m.fault(a.At(), err)
		}
		if !v.Known() {
			fmt.Fprintf(&b, "[%s]", m.Prog.Source.Text[a.At().From:a.At().To]) // known at a point only
			continue
		}
		b.WriteString(Text(v))
	}
	if s.Word == "print" {
		if m.Out != nil && !m.graph {
			fmt.Fprintln(m.Out, b.String())
		}
		return end{}, nil
	}
	if m.logging || m.lanes != nil {
		if m.lanes != nil {
			return end{}, value.ErrUnroll
		}
		return end{way: rejected}, nil
	}
	err := errors.New(b.String())
	if m.graph {
		err = fmt.Errorf("the program comes here whatever the parameters are, so that no point is accepted: %w: put a condition on parameters around it", err)
	}
	return end{}, &Error{Source: m.Prog.Source, Span: s.At(), Err: err, Rejected: true, Fatal: s.Word == "fatal_error"}
}

func unescape(s string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(s)
}
