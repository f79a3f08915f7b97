// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"math"

	"github.com/euryale-dev/euryale/infer/check"
)

// pixel returns the image index (energy and beam combined), the row and the column of an
// element of the flat pattern.
func (c *inspection) pixel(i int) (image, y, x int) {
	s := c.pattern.Intensity.Shape()
	nx, ny := s[3], s[2]
	return i / (ny * nx), i / nx % ny, i % nx
}

// grid returns the layout [image, y, x] of the pixels, with one image for each energy and
// beam.
func (c *inspection) grid() *check.Grid {
	s := c.pattern.Intensity.Shape()
	return &check.Grid{Shape: []int{s[0] * s[1], s[2], s[3]}, Names: []string{"energy", "y", "x"}, Index: c.index}
}

// imageAxes returns q, the azimuth and, if there are several, the energy.
func (c *inspection) imageAxes() []check.Axis {
	q := check.Axis{Name: "q", Unit: "1/nm"}
	chi := check.Axis{Name: "angle", Unit: "degrees"}
	energy := check.Axis{Name: "energy", Unit: "eV"}
	for k, i := range c.index {
		_, y, x := c.pixel(i)
		qy, qx := c.pattern.QY[y], c.pattern.QX[x]
		q.Values = append(q.Values, math.Hypot(qy, qx))
		chi.Values = append(chi.Values, 180/math.Pi*math.Atan2(qy, qx))
		energy.Values = append(energy.Values, c.pattern.Energies[c.energy[k]])
	}
	if len(c.pattern.Energies) > 1 {
		return []check.Axis{q, chi, energy}
	}
	return []check.Axis{q, chi}
}

// curveAxes returns the position along the curves and, if there are several, the energy.
func (c *inspection) curveAxes() []check.Axis {
	place := check.Axis{Name: "point of the curves"}
	energy := check.Axis{Name: "energy", Unit: "eV"}
	for k, i := range c.index {
		place.Values = append(place.Values, float64(i+1))
		energy.Values = append(energy.Values, c.Sim.Energies()[c.energy[k]])
	}
	if c.energies() > 1 {
		return []check.Axis{place, energy}
	}
	return []check.Axis{place}
}
