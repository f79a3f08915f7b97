// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import "math"

// Drift returns how far a metric is from the one that draws and their gradients, whitened by it, ask for: the mean over parameters of the squared logarithms of
// the variances that an estimate from these draws has, where the metric has 1. Directions count if the estimate would keep them.
func Drift(draws, gradients [][]float64) float64 {
	if len(draws) < 4 {
		return math.Inf(1)
	}
	e := lowRankEstimator{dim: len(draws[0]), q: draws, g: gradients}
	f, ok := fitLowRank(draws, gradients, e.ridge(), fisherCutoff)
	if !ok {
		return math.Inf(1)
	}
	sum := 0.0
	for _, s := range f.scale {
		sum += 4 * math.Log(s) * math.Log(s)
	}
	for _, l := range f.lambda {
		sum += math.Log(l) * math.Log(l)
	}
	return sum / float64(len(f.scale))
}
