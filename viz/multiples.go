// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import "fmt"

// mostMultiples is the largest number of curves in one figure.
const mostMultiples = 30

// Multiples draws curves of the same quantities in panels of equal size, each under its title.
func Multiples(title string, curves ...Curve) (*Figure, error) {
	if len(curves) == 0 {
		return nil, fmt.Errorf("viz: multiples %q: there are no curves to draw: pass at least one", title)
	}
	var s selection
	if n := len(curves); n > mostMultiples {
		s.remark("The first %d of %d are drawn.", mostMultiples, n)
		curves = curves[:mostMultiples]
	}
	var panels []*panel
	for i, c := range curves {
		c, err := c.prepared("multiples")
		if err != nil {
			return nil, err
		}
		p := c.panel(1.6)
		if i > 0 || len(p.keys) == 1 { // one kind of marks needs no name
			p.keys = nil
		}
		panels = append(panels, p)
	}
	f := tiles(title, s, "", panels, columns(len(panels)))
	f.Height = float64(len(f.grid.rows))*2.15 + 0.6
	return f, nil
}
