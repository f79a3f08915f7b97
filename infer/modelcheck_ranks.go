// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/tensor"
)

// purposeRanks is the random stream of the draws among which parameters are ranked in priors without a CDF.
const purposeRanks uint32 = 161

// Draws from a prior without a CDF, for each element and for all elements of an array together: firstRanks where its
// parameters are constants, and furtherRanks at every draw from the posterior where they are not.
const (
	firstRanks   = 19999
	mostRanks    = 2000000
	furtherRanks = 999
	mostFurther  = 200000
	fewestRanks  = 99
)

// priorRanks holds draws from a prior at theta, increasing, for each element of a parameter.
type priorRanks struct {
	theta  [][]float64
	sorted [][]float64
	n      int // number of draws for each element
}

// ranked writes the normal scores of the ranks of x among draws from the prior, or keeps in why what prevents that.
func (t *priorTrack) ranked(z, x []float64, theta [][]float64) bool {
	d := t.param.prior
	switch {
	case t.why != "":
		return false
	case !d.CanDraw():
		t.why = "has neither CDFOf nor RandOf: set one of them"
		return false
	}
	if t.ranks == nil || !slices.EqualFunc(theta, t.ranks.theta, slices.Equal[[]float64]) {
		if t.why = t.draw(theta, len(x)); t.why != "" {
			return false
		}
	}
	for i, v := range x {
		z[i] = standardNormal.Quantile(shareBelow(t.ranks.sorted[i], v))
	}
	return true
}

// draw fills ranks, and returns why it cannot.
func (t *priorTrack) draw(theta [][]float64, n int) string {
	d, shape := t.param.prior, t.param.node.Shape()
	r := &priorRanks{sorted: make([][]float64, n), n: firstRanks}
	most := mostRanks
	if t.ranks != nil {
		r.n, most = furtherRanks, mostFurther
	}
	if r.n = min(r.n, most/n); r.n < fewestRanks {
		return fmt.Sprintf("has no CDFOf, and its %d elements are too many to rank them among draws of RandOf: set CDFOf", n)
	}
	for _, v := range theta {
		r.theta = append(r.theta, slices.Clone(v))
	}
	src := tensor.NewStream(seedOf(theta...), purposeRanks, 0)
	one := make([]float64, n)
	for range r.n {
		if err := d.Fill(&src, one, shape, theta); err != nil {
			return fmt.Sprintf("has no CDFOf, and cannot be drawn from: %v", err)
		}
		if k, err := d.Outside(one, shape, theta); err != nil || k >= 0 {
			return fmt.Sprintf("has no CDFOf, and its draws are outside its support, such as %g: correct RandOf", one[max(k, 0)])
		}
		for i, v := range one {
			r.sorted[i] = append(r.sorted[i], v)
		}
	}
	for _, s := range r.sorted {
		slices.Sort(s)
	}
	t.ranks = r
	return ""
}

// shareBelow returns the share of the distribution below v, interpolated between the draws in s. It is that of the end beyond
// all of them.
func shareBelow(s []float64, v float64) float64 {
	n := float64(len(s) + 1)
	k, _ := slices.BinarySearch(s, v)
	switch k {
	case 0:
		return 1 / n
	case len(s):
		return float64(len(s)) / n
	}
	return (float64(k) + (v-s[k-1])/(s[k]-s[k-1])) / n
}

// unranked notes the priors that were not compared with the data.
func unranked(tracks []*priorTrack) (notes []check.Flag) {
	for _, t := range tracks {
		if t.why != "" {
			notes = append(notes, check.Flag{Kind: check.KindPrior, Where: t.param.name, Note: true,
				Text: fmt.Sprintf("the prior of %s was not compared with the data, because the distribution %s %s", t.param.name, t.param.prior.Name, t.why)})
		}
	}
	return notes
}
