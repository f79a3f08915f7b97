// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"fmt"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/stan/internal/stage"
)

var _ infer.Coordinates = (*Posterior)(nil)

// Coordinates returns the names of the unconstrained parameters for messages: that of the column for a number or an element of a vector
// or of an array of one index, and NAME.1, NAME.2 and so on for others, whose unconstrained numbers need not belong to columns.
func (p *Posterior) Coordinates() (names []string) {
	for _, q := range p.params {
		for k := range q.Free {
			names = append(names, coordinate(q, k))
		}
	}
	return names
}

func coordinate(q stage.Param, k int) string {
	whole := q.Parts == nil && q.Free == q.Size() && len(q.Shape) < 2 && !q.Type.Kind.IsComplex()
	switch {
	case whole && len(q.Shape) == 0:
		return q.Decl.Name
	case whole:
		return fmt.Sprintf("%s[%d]", q.Decl.Name, k+1)
	}
	return fmt.Sprintf("%s.%d", q.Decl.Name, k+1)
}
