// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import "math"

// RHat returns the rank-normalised potential scale reduction: the larger of
// RHatBulk and RHatFolded. It is near 1 when the chains agree with each other
// and with themselves; trust draws below 1.01. It is NaN for fewer than 2
// chains or 4 draws, constant draws, any NaN, or any infinite draw.
func RHat(x [][]float64) float64 { return Posterior.RHat(x) }

// RHat returns the larger of RHatBulk and RHatFolded.
func (c Convention) RHat(x [][]float64) float64 {
	return c.rhat(newSample(x))
}

func (c Convention) rhat(s *sample) float64 {
	if c == Posterior && s.endless {
		return math.NaN()
	}
	return math.Max(rhatBulk(s), c.rhatFolded(s))
}

// RHatBulk compares the locations of the split chains' normal scores.
func RHatBulk(x [][]float64) float64 { return rhatBulk(newSample(x)) }

func rhatBulk(s *sample) float64 {
	if !s.usable(2, 4) {
		return math.NaN()
	}
	return rhatCore(s.splitScores())
}

// RHatFolded compares the spreads: it is RHatBulk of |x - median|.
func RHatFolded(x [][]float64) float64 { return Posterior.RHatFolded(x) }

// RHatFolded compares the spreads. The median is that of all draws or, for ArviZ, of
// the halves of the chains, which lack the middle draw of an odd number.
func (c Convention) RHatFolded(x [][]float64) float64 { return c.rhatFolded(newSample(x)) }

func (c Convention) rhatFolded(s *sample) float64 {
	if !s.usable(2, 4) {
		return math.NaN()
	}
	return rhatCore(c.foldedScores(s))
}

// foldedScores returns the normal scores of the distances from the median, of split chains.
func (c Convention) foldedScores(s *sample) [][]float64 {
	if c == ArviZ {
		return newSample(Split(s.x)).folded().normalScores(nil)
	}
	return s.folded().splitScores()
}

// RHatSplit compares the split chains without rank normalisation.
func RHatSplit(x [][]float64) float64 {
	if !ratable(x) {
		return math.NaN()
	}
	return rhatCore(Split(x))
}

// RHatIdentity is the classical statistic on the chains as they are.
//
//	B = N var(chain means),  W = mean(chain variances),  sqrt((B/W + N - 1) / N)
func RHatIdentity(x [][]float64) float64 {
	if !ratable(x) {
		return math.NaN()
	}
	return rhatCore(x)
}

func rhatCore(x [][]float64) float64 {
	_, n := size(x)
	means, vars := chainMoments(centreChains(x))
	b, w := float64(n)*Variance(means), Mean(vars)
	return math.Sqrt((b/w + float64(n) - 1) / float64(n))
}

// RHatNested compares superchains, groups of chains that started at the same
// point: group[c] names the superchain of chain c. It serves many short chains,
// and is the larger of RHatNestedBulk and RHatNestedFolded.
//
// Reference: Margossian, Hoffman, Sountsov, Riou-Durand, Vehtari and Gelman,
// Nested R-hat, doi 10.1214/24-BA1453.
func RHatNested(x [][]float64, group []int) float64 { return Posterior.RHatNested(x, group) }

// RHatNested returns the larger of RHatNestedBulk and RHatNestedFolded.
func (c Convention) RHatNested(x [][]float64, group []int) float64 {
	return math.Max(RHatNestedBulk(x, group), c.RHatNestedFolded(x, group))
}

// RHatNestedBulk compares the locations of the superchains' normal scores.
func RHatNestedBulk(x [][]float64, group []int) float64 {
	return nestedOf(x, group, func() [][]float64 { return newSample(x).splitScores() })
}

// RHatNestedFolded compares the spreads: it is RHatNestedBulk of |x - median|.
func RHatNestedFolded(x [][]float64, group []int) float64 {
	return Posterior.RHatNestedFolded(x, group)
}

// RHatNestedFolded compares the spreads, with the median of RHatFolded.
func (c Convention) RHatNestedFolded(x [][]float64, group []int) float64 {
	return nestedOf(x, group, func() [][]float64 { return c.foldedScores(newSample(x)) })
}

// RHatNestedSplit compares the superchains without rank normalisation.
func RHatNestedSplit(x [][]float64, group []int) float64 {
	return nestedOf(x, group, func() [][]float64 { return Split(x) })
}

// RHatNestedIdentity compares the superchains of whole chains as they are.
func RHatNestedIdentity(x [][]float64, group []int) float64 {
	return nestedOf(x, group, func() [][]float64 { return x })
}

// nestedOf compares the superchains of the chains, or halves of chains, that of returns.
func nestedOf(x [][]float64, group []int, of func() [][]float64) float64 {
	if !ratable(x) || len(group) != len(x) {
		return math.NaN()
	}
	y := of()
	parts := len(y) / len(x)
	var all []int
	for _, g := range group {
		for range parts {
			all = append(all, g)
		}
	}
	return nested(y, all)
}

func nested(x [][]float64, group []int) float64 {
	means, vars := chainMoments(x)
	members := map[int][]int{}
	var order []int
	for c, g := range group {
		if members[g] == nil {
			order = append(order, g)
		}
		members[g] = append(members[g], c)
	}
	var centres, within []float64
	for _, g := range order {
		var m, v []float64
		for _, c := range members[g] {
			m, v = append(m, means[c]), append(v, vars[c])
		}
		w := Mean(v)
		if len(m) > 1 {
			w += Variance(m)
		}
		centres, within = append(centres, Mean(m)), append(within, w)
	}
	return math.Sqrt(1 + Variance(centres)/Mean(within))
}

func chainMoments(x [][]float64) (means, vars []float64) {
	for _, c := range x {
		means, vars = append(means, Mean(c)), append(vars, Variance(c))
	}
	return means, vars
}

// ratable reports whether R-hat is defined for x.
func ratable(x [][]float64) bool { return usable(x, 2, 4) }
