// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import "math"

// TauOfQ returns the relaxation time against q, as a curve for the power laws:
// the bins whose fit converged, with a positive q and a usable error.
func TauOfQ(fits []Fit) Curve {
	c := Curve{Bin: 1, Q: math.NaN(), Phi: math.NaN()}
	for _, f := range fits {
		c.Axis, c.AxisUnit = f.Curve.Axis, f.Curve.AxisUnit
		i := f.Model.index("tau")
		if i < 0 {
			if i = f.Model.index("b"); i < 0 {
				i = f.Model.index("tau1")
			}
		}
		if i < 0 || !f.OK() || !(f.Curve.Q > 0) || !(f.SD[i] > 0) {
			continue
		}
		c.X, c.Y, c.Err = append(c.X, f.Curve.Q), append(c.Y, f.X[i]), append(c.Err, f.SD[i])
	}
	return c
}
