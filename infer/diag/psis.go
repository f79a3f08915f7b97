// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"slices"
)

// PSIS returns the logarithms of Pareto-smoothed importance weights, which sum
// to one, and the shape k of their tail: up to about 0.7 the weights can be
// trusted. The largest tail ratios are replaced by quantiles of the generalised
// Pareto distribution fitted to them, none above the largest of the raw ones.
// Where all ratios are equal k is -Inf; a tail that cannot be fitted, of fewer
// than 5 ratios or without spread, stays as it is and has k = Inf.
//
// Reference: Vehtari, Simpson, Gelman, Yao and Gabry, Pareto smoothed
// importance sampling, JMLR 25 (2024) 72.
func PSIS(logRatios []float64, tail int) (logWeights []float64, k float64) {
	lw := slices.Clone(logRatios)
	if len(lw) == 0 {
		return lw, math.NaN()
	}
	order := ascending(lw)
	top := lw[order[len(order)-1]]
	for i := range lw {
		lw[i] -= top
	}
	if lw[order[0]] == 0 {
		k = math.Inf(-1)
	} else {
		k = smoothTail(lw, order, min(tail, len(lw)-1))
	}
	total := logSumExp(lw)
	for i := range lw {
		lw[i] -= total
	}
	return lw, k
}

// smoothTail replaces the n largest elements of lw, whose maximum is 0, and returns the shape of the
// tail.
func smoothTail(lw []float64, order []int, n int) float64 {
	if n < 5 {
		return math.Inf(1)
	}
	ids := order[len(order)-n:]
	cutoff := math.Exp(lw[order[len(order)-n-1]])
	x := make([]float64, n)
	for i, at := range ids {
		x[i] = math.Exp(lw[at]) - cutoff
	}
	if lw[ids[n-1]]-lw[ids[0]] < 0x1p-52/100 {
		return math.Inf(1)
	}
	k, sigma := GPDFit(x)
	if math.IsNaN(k) || math.IsInf(k, 0) {
		return math.Inf(1)
	}
	for i, at := range ids {
		q := gpdQuantile((float64(i)+0.5)/float64(n), k, sigma)
		lw[at] = math.Min(math.Log(q+cutoff), 0)
	}
	return k
}

// gpdQuantile is sigma ((1-p)^-k - 1) / k.
func gpdQuantile(p, k, sigma float64) float64 {
	if k == 0 {
		return -sigma * math.Log1p(-p)
	}
	return sigma * math.Expm1(-k*math.Log1p(-p)) / k
}

// TailLength returns the number of the largest importance ratios that are smoothed, given the number
// of draws, by the convention of R's loo (Posterior) or of ArviZ; efficiency is the effective sample
// size over the number of draws.
//
//	Posterior   ceil(min(S/5, 3 sqrt(S/r)))
//	ArviZ       floor(3 sqrt(S/r)) where S r > 225, else floor(S/5)
func (c Convention) TailLength(draws int, efficiency float64) int {
	s := float64(draws)
	long := 3 * math.Sqrt(s/efficiency)
	switch {
	case c == Posterior:
		return int(math.Ceil(math.Min(s/5, long)))
	case s*efficiency > 225:
		return int(long)
	}
	return int(s / 5)
}

// GoodK returns the tail shape up to which importance weights of this number of draws can be
// trusted: min(1 - 1/log10 S, 0.7).
func GoodK(draws int) float64 {
	return math.Min(1-1/math.Log10(float64(draws)), 0.7)
}

// ascending returns the indices of v from its smallest to its largest element; equal elements keep
// their order.
func ascending(v []float64) []int {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return nanLast(v[a], v[b]) })
	return order
}

// logSumExp returns log(sum(exp(v))), or -Inf for an empty slice.
func logSumExp(v []float64) float64 {
	top := math.Inf(-1)
	for _, x := range v {
		top = math.Max(top, x)
	}
	if math.IsInf(top, 0) || math.IsNaN(top) {
		return top
	}
	s := 0.0
	for _, x := range v {
		s += math.Exp(x - top)
	}
	return top + math.Log(s)
}
