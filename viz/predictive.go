// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Predictive draws data over the bands in which a model expects new data: Low to High holds 95 %,
// InnerLow to InnerHigh 50 %. The note counts the points within the bands, which should be near
// those shares.
func Predictive(c Curve) (*Figure, error) {
	c, err := c.prepared("predictive check")
	if err != nil {
		return nil, err
	}
	if c.Low == nil || c.High == nil {
		return nil, fmt.Errorf("viz: predictive check %q: Low and High are missing: give the 95 %% band", c.Title)
	}
	c.BandName = "95 %"
	p := c.panel(2)
	p.title = ""
	f := &Figure{Title: c.Title, Width: columnWidth, Height: 3.2, grid: &grid{rows: [][]*panel{{p}}}}
	var s selection
	s.cover(c, "95 %", c.Low, c.High)
	if c.InnerLow != nil && c.InnerHigh != nil {
		s.cover(c, "50 %", c.InnerLow, c.InnerHigh)
	}
	f.Note = s.note(c.missing())
	return f, nil
}

// cover counts the points within a band.
func (s *selection) cover(c Curve, name string, low, high []float64) {
	a, b := c, c
	a.Line, b.Line = low, high
	lo, hi := a.modelAt(), b.modelAt()
	in, n := 0, 0
	for i, y := range c.Y {
		if !linalg.Finite(y) || !linalg.Finite(lo[i]) || !linalg.Finite(hi[i]) {
			continue
		}
		n++
		if lo[i] <= y && y <= hi[i] {
			in++
		}
	}
	if n > 0 {
		lie := "lie"
		if in == 1 {
			lie = "lies"
		}
		s.remark("%d of %s (%.0f %%) %s within the %s band.", in, count(n, "point", "points"), 100*float64(in)/float64(n), lie, name)
	}
}
