// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"math"
	"slices"
)

// CheckTails is the check for means and standard deviations that the draws do not tell, because there are none or they hang on few draws. It appears in a report only then,
// and fails where a mean is not told.
const CheckTails Check = "tails"

const (
	// heavyK is the shape of tails from which on means are not told: about 2000 independent draws would be needed at it, and ten times as many at 0.77.
	heavyK = 0.7
	// wideK is the shape from which on standard deviations are not told. Squares have twice the shape. Of samples of 4,000, those of Student's t distribution with 2 degrees of
	// freedom, which has no standard deviation, are above it in 95 of 100, with 3 in 18, with 4 in 2, and lognormal ones with 1 on the log scale in one of 200.
	wideK = 0.4
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

// HasMean reports whether the draws tell the mean: they do not where tails are so heavy that there is none or that it hangs on few draws.
func (r *Row) HasMean() bool { return !(r.TailK > heavyK) }

// HasSD reports the same of the standard deviation, and with it of the standard error of the mean.
func (r *Row) HasSD() bool { return !(r.TailK > wideK) }

// adviseTails names quantities whose mean or standard deviation the draws do not tell, nothing where there are none.
func adviseTails(s Summary) Report {
	var means, deviations []string
	worst, wide := 0.0, 0.0
	for _, r := range s.judged() {
		switch {
		case !r.HasMean():
			means, worst = append(means, r.Name), math.Max(worst, r.TailK)
		case !r.HasSD():
			deviations, wide = append(deviations, r.Name), math.Max(wide, r.TailK)
		}
	}
	if len(means) > 0 {
		a := fail(CheckTails, fmt.Sprintf("the %s (Pareto shape up to %.2f; no mean exists from 1 on, no standard deviation from 0.5) that the draws tell neither mean nor standard deviation", soHeavy(means), worst),
			"report the median and quantiles, which are right; where a mean is wanted, give scales a prior with lighter tails, or look for data that say more about them")
		a.reason = "no mean"
		return Report{a}
	}
	if len(deviations) > 0 {
		return Report{pass(CheckTails, fmt.Sprintf("the %s (Pareto shape up to %.2f; no standard deviation exists from 0.5 on) that the draws tell no standard deviation, and no error of the mean; medians and quantiles are right", soHeavy(deviations), wide))}
	}
	return nil
}

// soHeavy begins a sentence about the tails of quantities.
func soHeavy(names []string) string {
	return fmt.Sprintf("%s of %s %s so heavy", verb(len(names), "tail", "tails"), listed(names), verb(len(names), "is", "are"))
}
