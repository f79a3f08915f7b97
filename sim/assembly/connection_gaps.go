// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"math"
	"sort"
	"sync"
)

// gaps draws the distance from one connection of a neuron to the next: g with probability p
// (1-p)^(g-1). A 32-bit number is looked up in a table; beyond its end the distribution starts anew, because
// it is memoryless.
type gaps struct {
	p     float64
	upTo  []uint32 // cumulative probabilities 2^32 P(gap <= i+1)
	guide []uint32 // first index where upTo exceeds i << guideShift
	log   float64  // 1/log(1-p), used if the table would be too long
}

const guideShift = 20

// tables caches the tables by probability.
var tables sync.Map

func gapsOf(p float64) *gaps {
	if g, ok := tables.Load(p); ok {
		return g.(*gaps)
	}
	g, _ := tables.LoadOrStore(p, newGaps(p))
	return g.(*gaps)
}

func newGaps(p float64) *gaps {
	const longest = 1 << 15
	g := &gaps{p: p, log: 1 / math.Log1p(-p)}
	if p*longest < 3 {
		return g
	}
	for i := 1; i <= longest; i++ {
		u := -math.Expm1(float64(i)/g.log) * (1 << 32)
		if u >= 1<<32-1 {
			break
		}
		g.upTo = append(g.upTo, uint32(u))
	}
	g.upTo = append(g.upTo, math.MaxUint32, math.MaxUint32)[:len(g.upTo)] // which append reads beyond the end
	g.guide = make([]uint32, 1<<(32-guideShift))
	for i := range g.guide {
		u := uint32(i) << guideShift
		g.guide[i] = uint32(sort.Search(len(g.upTo), func(k int) bool { return g.upTo[k] > u }))
	}
	return g
}

// append appends the targets, below n, of a source neuron in order.
func (g *gaps) append(dst []int32, seed uint64, source, n int) []int32 {
	d := randomStream{mix(seed ^ mix(uint64(source)+0x6A09E667F3BCC909))}
	if g.guide == nil {
		return g.appendByLog(dst, d, n)
	}
	end := len(g.upTo)
	upTo, guide, at := g.upTo[:end+2], g.guide, -1
	for {
		z := d.next()
		for range 2 {
			u := uint32(z)
			z >>= 32
			k := int(guide[u>>guideShift])
			k += int((uint64(upTo[k]) - uint64(u) - 1) >> 63) // without a branch, because either is likely
			for upTo[k] <= u && k < end {
				k++
			}
			if k >= end { // beyond the table: from its end on anew
				at += end
				continue
			}
			if at += k + 1; at >= n {
				return dst
			}
			dst = append(dst, int32(at))
		}
	}
}

// appendByLog is append without a table.
func (g *gaps) appendByLog(dst []int32, d randomStream, n int) []int32 {
	for at := -1; ; {
		z := d.next()
		for range 2 {
			u := uint32(z)
			z >>= 32
			gap := math.Log((float64(u)+0.5)/(1<<32)) * g.log
			if gap >= float64(n-at-1) { // also where it is no int
				return dst
			}
			at += 1 + int(gap)
			dst = append(dst, int32(at))
		}
	}
}

// Bernoulli appends the connections of a source neuron: each target independently, with the
// probability of the fibre.
func Bernoulli(dst []int32, f Fibre, source int) []int32 {
	return gapsOf(f.P).connections(dst, f.Seed, source, f.N)
}

// connections is Bernoulli for a fibre with n targets.
func (g *gaps) connections(dst []int32, seed uint64, source, n int) []int32 {
	switch {
	case n == 0 || g.p <= 0:
		return dst
	case g.p >= 1:
		for j := range n {
			dst = append(dst, int32(j))
		}
		return dst
	}
	return g.append(dst, seed, source, n)
}
