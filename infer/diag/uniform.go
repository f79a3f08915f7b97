// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// Uniformity is the result of two tests of whether the integers 0 to classes-1 are equally likely.
type Uniformity struct {
	N         int       // number of integers tested
	Histogram []int     // counts of bins of nearly equal width
	Expected  []float64 // expected counts of the bins
	ChiSquare float64
	PChi      float64 // p-value of ChiSquare, from its limiting distribution
	PECDF     float64 // exact p-value of the largest departure of the empirical distribution
	// mean of (rank+1/2)/classes - 1/2 in standard errors; negative if the ranks are too small
	Lean float64
	// variance minus that of uniform ranks, in standard errors; positive if there are too many ranks
	// at the ends
	Spread float64
}

// TestUniform tests ranks of 0 to classes-1. The chi-square test sees any departure in a few bins
// (20 by default, fewer for few numbers); the other test sees drifts of the empirical distribution
// function. Its p-value is the probability, for independent uniform ranks, that the function leaves
// its pointwise binomial limits somewhere by as much as it did.
//
// Reference: Säilynoja, Bürkner and Vehtari, doi 10.1007/s11222-022-10090-6.
func TestUniform(ranks []int, classes, bins int) (Uniformity, error) {
	u := Uniformity{N: len(ranks)}
	if classes < 2 || len(ranks) == 0 {
		return u, fmt.Errorf("diag: there are %d ranks of %d classes: want at least 1 rank and at least 2 classes", len(ranks), classes)
	}
	for i, r := range ranks {
		if r < 0 || r >= classes {
			return u, fmt.Errorf("diag: rank %d is %d: want 0 to %d", i, r, classes-1)
		}
	}
	if bins <= 0 {
		bins = 20
	}
	u.chiSquare(ranks, classes, max(min(bins, classes, len(ranks)/5), 2))
	u.PECDF = newECDF(len(ranks), classes).test(ranks)
	u.moments(ranks, classes)
	return u, nil
}

func (u *Uniformity) chiSquare(ranks []int, classes, bins int) {
	edges := cut(classes, bins)
	u.Histogram, u.Expected = make([]int, bins), make([]float64, bins)
	for _, r := range ranks {
		u.Histogram[sort.SearchInts(edges[1:], r+1)]++
	}
	for b := range bins {
		u.Expected[b] = float64(len(ranks)) * float64(edges[b+1]-edges[b]) / float64(classes)
		d := float64(u.Histogram[b]) - u.Expected[b]
		u.ChiSquare += d * d / u.Expected[b]
	}
	u.PChi = mathext.GammaIncRegComp(float64(bins-1)/2, u.ChiSquare/2)
}

// moments compares mean and variance with those of uniform classes.
func (u *Uniformity) moments(ranks []int, classes int) {
	n, c := float64(len(ranks)), float64(classes)
	variance := (1 - 1/(c*c)) / 12
	fourth := (1 - 1/(c*c)) * (3 - 7/(c*c)) / 240
	var mean, square float64
	for _, r := range ranks {
		x := (float64(r)+0.5)/c - 0.5
		mean += x / n
		square += x * x / n
	}
	u.Lean = mean / math.Sqrt(variance/n)
	u.Spread = (square - variance) / math.Sqrt(math.Max(fourth-variance*variance, 1e-300)/n)
}

// cut divides 0..classes into parts of nearly equal width.
func cut(classes, parts int) []int {
	edges := make([]int, parts+1)
	for i := range edges {
		edges[i] = i * classes / parts
	}
	return edges
}
