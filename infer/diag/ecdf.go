// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// ecdf is the empirical distribution function of n independent uniform classes at some edges. The
// number below edge j is binomial, and the numbers below successive edges form a Markov chain, so
// the probability that all of them stay within limits can be computed.
type ecdf struct {
	n     int
	edges []int     // edges in units of classes, without the first and the last
	z     []float64 // edges as fractions of the classes
	lfac  []float64 // logarithms of factorials, log k!
}

// mostEdges is the largest number of edges.
const mostEdges = 100

func newECDF(n, classes int) *ecdf {
	parts := min(classes, mostEdges)
	all := cut(classes, parts)
	e := &ecdf{n: n, edges: all[1:parts], lfac: make([]float64, n+1)}
	for k := 1; k <= n; k++ {
		e.lfac[k] = e.lfac[k-1] + math.Log(float64(k))
	}
	for _, edge := range e.edges {
		e.z = append(e.z, float64(edge)/float64(classes))
	}
	return e
}

// atMost and atLeast are the tails of the number below edge j.
func (e *ecdf) atMost(j, k int) float64 {
	if k >= e.n {
		return 1
	}
	return mathext.RegIncBeta(float64(e.n-k), float64(k+1), 1-e.z[j])
}

func (e *ecdf) atLeast(j, k int) float64 {
	if k <= 0 {
		return 1
	}
	return mathext.RegIncBeta(float64(k), float64(e.n-k+1), e.z[j])
}

// pointwise is the two-sided probability of a count at least as extreme as k
// below edge j.
func (e *ecdf) pointwise(j, k int) float64 {
	return math.Min(2*math.Min(e.atMost(j, k), e.atLeast(j, k)), 1)
}

// limits returns the counts below edge j whose pointwise probability is above
// gamma; low > high if there are none.
func (e *ecdf) limits(j int, gamma float64) (low, high int) {
	low = sort.Search(e.n, func(k int) bool { return 2*e.atMost(j, k) > gamma })
	high = sort.Search(e.n, func(k int) bool { return !(2*e.atLeast(j, k+1) > gamma) })
	return low, high
}

// inside returns the probability that all pointwise probabilities are above
// gamma.
func (e *ecdf) inside(gamma float64) float64 {
	at, from, before := []float64{1}, 0, 0.0
	for j := range e.edges {
		low, high := e.limits(j, gamma)
		if high < low {
			return 0
		}
		next := make([]float64, high-low+1)
		for i, mass := range at {
			if mass > 1e-18 {
				e.advance(next, low, from+i, mass, (e.z[j]-before)/(1-before))
			}
		}
		at, from, before = next, low, e.z[j]
	}
	return math.Min(total(at), 1)
}

// advance adds to next, whose first element belongs to the count low, the probability mass of the
// count k after each of the other numbers falls below the next edge with probability p.
func (e *ecdf) advance(next []float64, low, k int, mass, p float64) {
	n := e.n - k
	logP, logQ := math.Log(p), math.Log1p(-p)
	mean, reach := float64(n)*p, 9*math.Sqrt(float64(n)*p*(1-p))+30
	first, last := max(low, k, k+int(mean-reach)), min(low+len(next)-1, e.n, k+int(mean+reach))
	for m := first; m <= last; m++ {
		d := m - k
		next[m-low] += mass * math.Exp(e.lfac[n]-e.lfac[d]-e.lfac[n-d]+float64(d)*logP+float64(n-d)*logQ)
	}
}

// test returns the p-value of the ranks.
func (e *ecdf) test(ranks []int) float64 {
	counts := make([]int, len(e.edges)+1)
	for _, r := range ranks {
		counts[sort.SearchInts(e.edges, r+1)]++
	}
	gamma, below := 1.0, 0
	for j := range e.edges {
		below += counts[j]
		gamma = math.Min(gamma, e.pointwise(j, below))
	}
	if gamma >= 1 {
		return 1
	}
	if bound := gamma * float64(len(e.edges)); bound < 1e-9 {
		return bound
	}
	// Equal probabilities of the observed count must not depend on rounding.
	return math.Min(math.Max(1-e.inside(gamma*(1+1e-9)), 0), 1)
}

// ECDFBand returns limits for the empirical distribution function of n
// independent ranks of 0 to classes-1: it stays within low and high at all x
// together with at least the given probability. x, low and high are fractions;
// they serve to draw the band of a calibration plot.
func ECDFBand(n, classes int, prob float64) (x, low, high []float64, err error) {
	if n < 1 || classes < 2 || !(prob > 0 && prob < 1) {
		return nil, nil, nil, fmt.Errorf("diag: the band has probability %v for %d ranks of %d classes: want a probability between 0 and 1, at least 1 rank and at least 2 classes", prob, n, classes)
	}
	e := newECDF(n, classes)
	lo, hi := (1-prob)/float64(len(e.edges))/2, 1.0
	for range 40 {
		if mid := math.Sqrt(lo * hi); e.inside(mid) >= prob {
			lo = mid
		} else {
			hi = mid
		}
	}
	for j := range e.edges {
		a, b := e.limits(j, lo)
		x, low, high = append(x, e.z[j]), append(low, float64(a)/float64(n)), append(high, float64(b)/float64(n))
	}
	return x, low, high, nil
}
