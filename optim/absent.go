// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

const (
	// absent is the number of standard deviations from 0 below which noise can make an amplitude, where a free place or time
	// lets it pick the largest of many.
	absent = 4
	// idle is the length of a column of the Jacobian, relative to that at the result, below which a parameter changes nothing.
	idle = 1e-10
)

// tellAbsent names parameters that would change nothing if another one, which is 0 within its error, were 0: the decay time of a
// decay that is not there, or the place of a peak. Their errors come from an amplitude that noise made.
func (d *dense) tellAbsent(r *Result) {
	if r.FreeCov == nil || r.DoF() < 1 {
		return
	}
	here := slices.Clone(d.x)
	defer copy(d.x, here)
	var at []float64
	for i, x := range here {
		sd := math.Sqrt(r.FreeCov[i*d.n+i])
		if x == 0 || r.Active[i] != 0 || !(math.Abs(x) < absent*sd) || d.p.bounded() && (d.p.Lower[i] > 0 || d.p.Upper[i] < 0) {
			continue
		}
		if at == nil {
			at = make([]float64, d.m*d.n)
		}
		copy(d.x, here)
		d.x[i] = 0
		if d.jacobian(at) != nil {
			continue
		}
		if own := linalg.Norm(at[i*d.m:(i+1)*d.m]) / d.column[i]; !(own > 0.5 && own < 2) {
			continue // no amplitude: a width or a time of 0 leaves no model to speak of
		}
		for k := range d.n {
			name := d.p.name(k)
			if k == i || r.Active[k] != 0 || slices.Contains(r.Undetermined, name) || !(linalg.Norm(at[k*d.m:(k+1)*d.m]) <= idle*d.column[k]) {
				continue
			}
			r.Undetermined = append(r.Undetermined, name)
			r.Warnings = append(r.Warnings, fmt.Sprintf("the data do not determine %s: %s is %.3g +- %.2g, which noise alone could produce, and without it %s has no effect: add data, or leave out the term that %s multiplies",
				name, d.p.name(i), x, sd, name, d.p.name(i)))
		}
	}
}
