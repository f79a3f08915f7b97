// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Parameters come back from their coordinates, and derivatives by coordinates are those of differences.
func TestCoordinates(t *testing.T) {
	s := transport.Setup{Model: transport.Laminar}
	for _, theta := range [][]float64{{1000, -0.2, 200, 1e-2, 0.1, 1e-3, 4}, {1000, 0.7, -200, 1e-2, 0, 1e-3, 4}} {
		for _, free := range [][]int{{0, 1, 2, 3, 4, 5, 6}, {0, 1, 3, 6}, {0, 2, 4, 5}} {
			for form, take := range map[string]func(c *coordinates){
				"apart": func(*coordinates) {}, "powers": (*coordinates).powers, "bent": func(c *coordinates) { c.bend(theta) },
			} {
				c := newCoordinates(s.Names(), times(50), theta, free)
				take(c)
				x := c.at(theta)
				for k, v := range c.theta(x) {
					if math.Abs(v-theta[k]) > 1e-12*math.Abs(theta[k]) {
						t.Errorf("%s: %s comes back as %g, want %g", form, c.names[k], v, theta[k])
					}
				}
				// any function of the parameters
				value := func(x []float64) (sum float64) {
					for k, v := range c.theta(x) {
						sum += float64(k+1) * v * v
					}
					return sum
				}
				row := make([]float64, len(free))
				for i, k := range free {
					row[i] = 2 * float64(k+1) * theta[k]
				}
				c.slopes(row, x, theta)
				for i := range x {
					const h = 1e-5
					at := x[i]
					x[i] = at + h
					up := value(x)
					x[i] = at - h
					down := value(x)
					x[i] = at
					if want := (up - down) / (2 * h); math.Abs(row[i]-want) > 1e-5*math.Abs(want)+1e-3 {
						t.Errorf("%s, %v: derivative by coordinate %d is %g, want %g", form, free, i, row[i], want)
					}
				}
			}
		}
	}
}
