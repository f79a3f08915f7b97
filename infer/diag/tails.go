// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"math"
	"slices"
)

// CheckTails is the check for means that the draws do not tell, because they have none or hang on few draws. It appears in a report only if it fails.
const CheckTails Check = "tails"

const (
	// heavyK is the shape of tails from which on means are not told: about 2000 independent draws would be needed at it, and ten times as many at 0.77.
	heavyK = 0.7
	// endingK is the shape of the outer quarter of tails below which they end all the same. That of Cauchy draws is below it in at most 2 of 100 samples of 4,000.
	endingK = 0.2
	// farTail is how many times as far as the 5 % and 95 % quantiles a draw must be from the median for tails to be looked at.
	farTail = 8
	// fewestTail is the number of draws from which on they are.
	fewestTail = 400
)

// tailShape returns Row.TailK of draws with some quantiles.
func (s *sample) tailShape(x [][]float64, q05, q50, q95 float64) float64 {
	all := s.sorted()
	n := len(all)
	if n < fewestTail || !(math.Max(all[n-1]-q50, q50-all[0]) > farTail*(q95-q05)/2) || !(q95 > q05) {
		return 0
	}
	k := ParetoK(x)
	if k > heavyK { // draws of a mixture of narrow and wide distributions have tails that end, far out
		quarter := tailLength(float64(n), ArviZ.ESSTail(x, 0.05)) / 4
		if far := shapeOf(slices.Clone(all), quarter); far < endingK {
			k = far
		}
	}
	if k > 0 {
		return k
	}
	return 0
}

// HasMean reports whether the draws tell the mean and the standard deviation: they do not where tails are so heavy that these do not exist or hang on few draws.
func (r *Row) HasMean() bool { return !(r.TailK > heavyK) }

// adviseTails names quantities whose mean the draws do not tell, nothing where there are none.
func adviseTails(s Summary) Report {
	var names []string
	worst := 0.0
	for _, r := range s.judged() {
		if !r.HasMean() {
			names, worst = append(names, r.Name), math.Max(worst, r.TailK)
		}
	}
	if len(names) == 0 {
		return nil
	}
	a := fail(CheckTails, fmt.Sprintf("the %s of %s %s so heavy (Pareto shape up to %.2f; no mean exists from 1 on, no standard deviation from 0.5) that the draws tell neither mean nor standard deviation",
		verb(len(names), "tail", "tails"), listed(names), verb(len(names), "is", "are"), worst),
		"report the median and quantiles, which are right; where a mean is wanted, give scales a prior with lighter tails, or look for data that say more about them")
	a.reason = "no mean"
	return Report{a}
}
