// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	// narrowest and widest are the scales in unconstrained coordinates beyond which the search for a first step ends.
	narrowest, widest = 1e-7, 1e7
	smallestNormal    = 0x1p-1022 // number below which numbers lose digits
	scaleDraws        = 101       // draws from the prior that tell the scale of a coordinate
)

// scaleOfPriors names the parameter whose prior is far wider or narrower than 1 in unconstrained coordinates, with the size of draws from
// it. It is empty where the priors are none of these, or where a parameter has none. A posterior on such a scale is proper, but squares of
// its numbers, which a sampler needs, leave the range of float64.
func (c *chain) scaleOfPriors() string {
	p, ok := c.target.(priorPointer)
	if !ok {
		return ""
	}
	draws, err := p.priorPoints(scaleDraws, c.cfg.Seed, nil)
	if err != nil || len(draws) == 0 {
		return ""
	}
	name, scale, off := "", 0.0, 0.0
	for i := range draws[0] {
		slices.SortFunc(draws, func(a, b []float64) int { return cmp.Compare(math.Abs(a[i]), math.Abs(b[i])) })
		middle := draws[len(draws)/2]
		size := math.Abs(middle[i])
		of, value := describe(c.target, middle, i)
		value = math.Abs(value)
		if far := math.Abs(math.Log10(max(value, math.SmallestNonzeroFloat64))); (size > widest || size < narrowest || value < smallestNormal) && far > off {
			name, scale, off = of, value, far
		}
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf("draws of %s from its prior are of the order of %.0e, which is too far from 1 to sample: choose units, of the data as well, in which %s lies between about %.0e and %.0e", name, scale, name, narrowest, widest)
}
