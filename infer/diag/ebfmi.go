// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import "math"

// EBFMI returns, per chain, the energy Bayesian fraction of missing
// information. Below 0.3 the momentum refresh is too small to travel between
// the energies of the posterior, a mark of heavy tails or funnels. A chain of
// constant energy gives NaN.
//
//	mean((E_{t+1} - E_t)^2) / var(E)
func EBFMI(energy [][]float64) []float64 {
	out := make([]float64, len(energy))
	for c, e := range energy {
		if len(e) < 2 {
			out[c] = math.NaN()
			continue
		}
		s := 0.0
		for i := range len(e) - 1 {
			s += (e[i+1] - e[i]) * (e[i+1] - e[i])
		}
		out[c] = s / float64(len(e)-1) / Variance(e)
	}
	return out
}
