// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"slices"
	"sort"
)

// atPredicted rescales the residuals to the standard deviations at the predicted values, if those
// given follow the observed values, like the root of a count or a percentage of the reading: the distribution
// of residuals that share their noise with the errors is unknown.
func (d *Data) atPredicted(v *Verdict) {
	if d.Sigma == nil || d.Mean == nil || len(d.Z) < 8 || slices.Min(d.Sigma) == slices.Max(d.Sigma) {
		return
	}
	y := make([]float64, len(d.Z))
	for i, z := range d.Z {
		y[i] = d.Mean[i] + z*d.Sigma[i]
	}
	order := sorted(y)
	if !follows(d.Sigma, order) {
		return
	}
	z, j := slices.Clone(d.Z), slices.Clone(d.Jacobian)
	for i := range z {
		ratio := d.Sigma[i] / interpolated(y, d.Sigma, order, d.Mean[i])
		z[i] *= ratio
		for k := range d.Names {
			j[k*len(z)+i] *= ratio
		}
	}
	d.Z, d.Jacobian = z, j
	v.add(Flag{Kind: "errors of the observed values",
		Text: "the errors follow the observed values, as the square root of a count or a percentage of the reading does; the verdict takes them at the predicted values instead, but weights of this kind draw a fit towards low values"}, true)
}

// fewestSteps is the number of changes of the errors along the observed values from which they are
// said to follow them: if errors are constant except for a few, those few may lie at an end by
// chance.
const fewestSteps = 4

// follows reports whether sigma rises or falls monotonically with y, up to the rounding of files.
// Constant errors follow nothing.
func follows(sigma []float64, order []int) bool {
	rises, falls := 0, 0
	for k := 1; k < len(order); k++ {
		a, b := sigma[order[k-1]], sigma[order[k]]
		near := 1e-6 * max(math.Abs(a), math.Abs(b))
		if b > a+near {
			rises++
		} else if b < a-near {
			falls++
		}
	}
	return min(rises, falls) == 0 && max(rises, falls) >= fewestSteps
}

// interpolated returns sigma at a value x of y, interpolated in the given order.
func interpolated(y, sigma []float64, order []int, x float64) float64 {
	n := len(order)
	k := sort.Search(n, func(i int) bool { return y[order[i]] >= x })
	k = min(max(k, 1), n-1)
	a, b := order[k-1], order[k]
	if y[a] == y[b] {
		return (sigma[a] + sigma[b]) / 2
	}
	u := (x - y[a]) / (y[b] - y[a])
	if s := sigma[a] + u*(sigma[b]-sigma[a]); u >= -1 && u <= 2 && s > 0 {
		return s
	}
	return sigma[b]
}
