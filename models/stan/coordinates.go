// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

// Coordinates names the unconstrained numbers, Dim of them, for messages: by the column where each number of a parameter is that of one element, tau or
// theta[2], and by the parameter's name otherwise.
func (p *Posterior) Coordinates() (names []string) {
	for _, q := range p.params {
		for k := range q.Free {
			name := q.Decl.Name
			if len(q.Shape) == 1 && q.Shape[0] == q.Free {
				name += elementName(q.Shape, k)
			}
			names = append(names, name)
		}
	}
	return names
}
