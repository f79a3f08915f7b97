// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/median"
)

// Interval is a range of values.
type Interval struct{ Low, High float64 }

// Quantile returns the quantile of probability p of unsorted numbers by linear
// interpolation between order statistics (type 7, the rule of R and NumPy). It
// is NaN if v is empty or holds a NaN.
func Quantile(v []float64, p float64) float64 {
	if len(v) == 0 || slices.ContainsFunc(v, math.IsNaN) {
		return math.NaN()
	}
	s := slices.Clone(v)
	i, t := orderOf(p, len(s))
	low := median.Nth(s, i)
	if t == 0 {
		return low
	}
	return between(low, slices.Min(s[min(i+1, len(s)-1):]), t)
}

// Median returns the quantile of probability 1/2.
func Median(v []float64) float64 { return Quantile(v, 0.5) }

// ETI returns the equal-tailed interval of the given probability: the quantiles
// (1-prob)/2 and (1+prob)/2.
func ETI(v []float64, prob float64) Interval {
	s := sorted(v)
	return Interval{sortedQuantile(s, (1-prob)/2), sortedQuantile(s, (1+prob)/2)}
}

// HDI returns the shortest interval between two draws that holds at least floor(prob n) further
// draws; among equally short ones, the lowest. NaN counts as the largest number, and a range that
// ends in NaN as the shortest, so that it shows in the result.
func HDI(v []float64, prob float64) Interval {
	s := slices.Clone(v)
	if slices.ContainsFunc(s, math.IsNaN) {
		slices.SortFunc(s, nanLast)
	} else {
		slices.Sort(s)
	}
	return sortedHDI(s, prob)
}

// sortedHDI is HDI of numbers in ascending order, NaN last.
func sortedHDI(s []float64, prob float64) Interval {
	k := int(math.Floor(prob * float64(len(s))))
	if len(s) == 0 || k >= len(s) {
		return Interval{math.NaN(), math.NaN()}
	}
	best := 0
	for i := range len(s) - k {
		w := s[i+k] - s[i]
		if math.IsNaN(w) {
			best = i
			break
		}
		if w < s[best+k]-s[best] {
			best = i
		}
	}
	return Interval{s[best], s[best+k]}
}

// Ascending is numbers in ascending order, NaN last. It serves many quantiles and intervals of the
// same numbers, which are sorted only once.
type Ascending []float64

// Ascend returns v in ascending order, in a new slice.
func Ascend(v []float64) Ascending { return newSample([][]float64{v}).sorted() }

// Quantile is the function Quantile of the same numbers.
func (a Ascending) Quantile(p float64) float64 {
	if n := len(a); n == 0 || math.IsNaN(a[n-1]) {
		return math.NaN()
	}
	return sortedQuantile(a, p)
}

// HDI is the function HDI of the same numbers.
func (a Ascending) HDI(prob float64) Interval { return sortedHDI(a, prob) }

func sorted(v []float64) []float64 {
	if slices.ContainsFunc(v, math.IsNaN) {
		return nil
	}
	s := slices.Clone(v)
	slices.Sort(s)
	return s
}

func sortedQuantile(s []float64, p float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	i, t := orderOf(p, len(s))
	return between(s[i], s[min(i+1, len(s)-1)], t)
}

// orderOf returns the place of the order statistic of n numbers at or below the quantile of probability
// p, from 0, and how far the quantile lies between it and the next one.
func orderOf(p float64, n int) (i int, t float64) {
	h := p * float64(n-1)
	i = min(max(int(math.Floor(h)), 0), n-1)
	return i, h - float64(i)
}

// between returns the number at the fraction t of the way from low to high.
func between(low, high, t float64) float64 {
	switch {
	case t == 0 || low == high:
		return low
	case t >= 0.5:
		return high - (high-low)*(1-t)
	}
	return low + (high-low)*t
}

func nanLast(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b || math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	}
	return -1
}
