// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"strings"
)

// CheckBounded is the check for densities that do not fall towards a bound. It appears in a report
// only if it fails.
const CheckBounded Check = "bounded density"

// Runaway is a parameter that has run off towards a bound or to infinity, because the log density
// does not fall there. A density that rises without bound most often belongs to a scale that can
// shrink to 0 around data which the model fits exactly.
type Runaway struct {
	Name  string  // name of the parameter
	Value float64 // value that the parameter has reached
	Chain int     // chain that took it there, counted from 0
	Flat  bool    // true if the log density is flat there, neither rising nor falling
	// With names other parameters that went there with it, on a ridge of the log density.
	With []string
}

func adviseRunaway(r Runaway) Advice {
	cause := fmt.Sprintf("%s has run to %.2g in chain %d and the log density keeps rising, so it is unbounded there and the draws do not represent a distribution", r.Name, r.Value, r.Chain+1)
	if r.Flat {
		with := ""
		if len(r.With) > 0 {
			with = ", together with " + strings.Join(r.With, " and ") + ","
		}
		cause = fmt.Sprintf("%s has run to %.2g in chain %d%s and the log density does not fall, so the posterior has no finite integral and the draws do not represent a distribution", r.Name, r.Value, r.Chain+1, with)
	}
	a := fail(CheckBounded, cause, AwayFrom(r.Name))
	a.Of = r.Name
	return a
}

// AwayFrom returns the remedy for an unbounded density of a parameter.
func AwayFrom(name string) string {
	return fmt.Sprintf("give %s a prior that keeps it away from there, such as a log-normal or an inverse gamma if it is a scale, or look for data that the model fits without error", name)
}
