// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"math"
	"slices"
)

// powerScaling is by how much a part of the density is raised to a power, up and down.
const powerScaling = 0.01

// PowerScaling says how much the distribution of draws x changes where a part of the log density, such as the prior or the likelihood, is raised to a
// power near 1: the cumulative Jensen-Shannon distance of the weighted draws for each doubling of the power, the mean of both directions. Above
// about 0.05 the draws are sensitive to the part. It is NaN where the weights cannot be trusted or the draws do not vary.
//
// Reference: Kallioinen, Paananen, Burkner and Vehtari, doi:10.1007/s11222-023-10366-5.
func PowerScaling(x, logPart []float64) float64 {
	if len(x) != len(logPart) {
		panic(fmt.Sprintf("diag: PowerScaling: there are %d draws and %d log densities: give one for each draw", len(x), len(logPart)))
	}
	order := ascending(x)
	if len(x) == 0 || !(x[order[len(x)-1]] > x[order[0]]) {
		return math.NaN()
	}
	sum := 0.0
	for _, power := range []float64{1 - powerScaling, 1 + powerScaling} {
		ratios := make([]float64, len(x))
		for i, l := range logPart {
			ratios[i] = (power - 1) * l
		}
		lw, k := PSIS(ratios, Convention(0).TailLength(len(x), 1))
		if k > GoodK(len(x)) && !math.IsInf(k, 1) {
			return math.NaN()
		}
		weights := make([]float64, len(x))
		for i, v := range lw {
			weights[i] = math.Exp(v)
		}
		sum += cumulativeDistance(x, order, weights) / math.Abs(math.Log2(power)) / 2
	}
	return sum
}

// cumulativeDistance is the square root of the cumulative Jensen-Shannon distance of draws with equal weights and with others, the larger one of
// x and -x.
func cumulativeDistance(x []float64, order []int, weights []float64) float64 {
	sorted, w := make([]float64, len(x)), make([]float64, len(x))
	for i, k := range order {
		sorted[i], w[i] = x[k], weights[k]
	}
	up := cumulativeDivergence(sorted, w)
	slices.Reverse(sorted)
	slices.Reverse(w)
	for i := range sorted {
		sorted[i] = -sorted[i]
	}
	return math.Sqrt(max(0, up, cumulativeDivergence(sorted, w)))
}

// cumulativeDivergence is the symmetric cumulative Jensen-Shannon divergence of the distribution functions, over its bound.
func cumulativeDivergence(sorted, w []float64) float64 {
	var p, q, pq, qp, pArea, qArea float64
	share := 1 / float64(len(sorted))
	for i := range len(sorted) - 1 {
		p, q = p+share, q+w[i]
		bin, middle := sorted[i+1]-sorted[i], (p+q)/2
		pArea, qArea = pArea+bin*p, qArea+bin*q
		if p > 0 {
			pq += bin * p * math.Log2(p/middle)
		}
		if q > 0 {
			qp += bin * q * math.Log2(q/middle)
		}
	}
	pq += (qArea - pArea) / 2 / math.Ln2
	qp += (pArea - qArea) / 2 / math.Ln2
	return (pq + qp) / (pArea + qArea)
}
