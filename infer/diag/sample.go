// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mathext"
)

// sample is the draws of one quantity with what its statistics share, so that a summary sorts the
// draws once. Its methods compute what they need when it is first asked for.
type sample struct {
	x       [][]float64 // draws by chain; those of newSample lie in all
	all     []float64   // draws of all chains, one chain after the other
	nan     bool        // whether any draw is NaN
	endless bool        // whether any draw is infinite, so that no statistic of convergence is defined
	width   float64     // largest minus smallest draw

	places    []int     // places in all, in ascending order of the draws
	ascending []float64 // draws in ascending order, NaN last
	around    *sample   // distances from the median
	scores    *scores   // normal scores shared with other quantities; may be nil
}

// newSample returns the sample of draws x, which it copies.
func newSample(x [][]float64) *sample { return flatSample(Flatten(x), x) }

// flatSample returns the sample of the draws all, which have as many chains of the same lengths as
// the draws like.
func flatSample(all []float64, like [][]float64) *sample {
	return &sample{all: all, x: chainsOf(all, like), width: span([][]float64{all}), nan: slices.ContainsFunc(all, math.IsNaN),
		endless: slices.ContainsFunc(all, func(v float64) bool { return math.IsInf(v, 0) })}
}

// usable reports whether the sample has the given least size and no NaN.
func (s *sample) usable(chains, draws int) bool {
	c, n := size(s.x)
	return c >= chains && n >= draws && !s.nan
}

// order returns the places of the draws in all, in ascending order.
func (s *sample) order() []int {
	if s.places == nil {
		s.places = argsort(s.all)
	}
	return s.places
}

// sorted returns the draws in ascending order, NaN last.
func (s *sample) sorted() []float64 {
	if s.ascending == nil {
		s.ascending = make([]float64, len(s.all))
		for i, at := range s.order() {
			s.ascending[i] = s.all[at]
		}
	}
	return s.ascending
}

// beginning returns the sample of the first k/n of every chain, whose order follows from that of s.
func (s *sample) beginning(k, n int) *sample {
	parts, at, from := make([][]float64, len(s.x)), make([]int, len(s.all)), 0
	next := 0
	for c, chain := range s.x {
		parts[c] = chain[:len(chain)*k/n]
		for i := range chain {
			at[from+i] = -1
			if i < len(parts[c]) {
				at[from+i] = next + i
			}
		}
		from, next = from+len(chain), next+len(parts[c])
	}
	out := newSample(parts)
	out.places = make([]int, 0, next)
	for _, old := range s.order() {
		if at[old] >= 0 {
			out.places = append(out.places, at[old])
		}
	}
	return out
}

// quantile returns the quantile of probability p; NaN if any draw is NaN.
func (s *sample) quantile(p float64) float64 {
	if s.nan {
		return math.NaN()
	}
	return sortedQuantile(s.sorted(), p)
}

// mapped returns f of every draw, by chain.
func (s *sample) mapped(f func(float64) float64) [][]float64 {
	y := make([]float64, len(s.all))
	for i, v := range s.all {
		y[i] = f(v)
	}
	return chainsOf(y, s.x)
}

// between returns 1 for every draw from low to high and 0 elsewhere, by chain.
func (s *sample) between(low, high float64) [][]float64 {
	return s.mapped(func(v float64) float64 {
		if low <= v && v <= high {
			return 1
		}
		return 0
	})
}

// folded returns the distances of the draws from their median. Those on either side are in order
// already, so that they need no sorting.
func (s *sample) folded() *sample {
	if s.around != nil {
		return s.around
	}
	m := s.quantile(0.5)
	y := make([]float64, len(s.all))
	for i, v := range s.all {
		y[i] = math.Abs(v - m)
	}
	s.around = flatSample(y, s.x)
	s.around.scores = s.scores
	if !math.IsNaN(m) && !math.IsInf(s.width, 0) && !s.around.nan {
		s.around.places = merged(s.order(), y, m, s.all)
	}
	return s.around
}

// merged returns the places in ascending order of the distances from m, given those in ascending
// order of the draws.
func merged(order []int, distance []float64, m float64, draws []float64) []int {
	up, _ := slices.BinarySearchFunc(order, m, func(at int, m float64) int {
		if draws[at] < m {
			return -1
		}
		return 1
	})
	down := up - 1
	out := make([]int, 0, len(order))
	for up < len(order) || down >= 0 {
		if down < 0 || up < len(order) && distance[order[up]] <= distance[order[down]] {
			out = append(out, order[up])
			up++
		} else {
			out = append(out, order[down])
			down--
		}
	}
	return out
}

// ranks calls put with the place in all and the rank of every draw among those that are not left
// out, from 1; equal draws share the average of their ranks.
func (s *sample) ranks(leftOut []int, put func(place int, rank float64)) {
	order := s.order()
	if len(leftOut) > 0 {
		order = slices.DeleteFunc(slices.Clone(order), func(at int) bool {
			_, out := slices.BinarySearch(leftOut, at)
			return out
		})
	}
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && s.all[order[j]] == s.all[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			put(at, float64(i+j+1)/2) // mean of i+1 .. j
		}
		i = j
	}
}

// splitScores returns ZScale(Split(x)).
func (s *sample) splitScores() [][]float64 {
	var middle []int // places of the middle draws of odd chains, which Split drops
	from := 0
	for _, c := range s.x {
		if len(c)%2 == 1 {
			middle = append(middle, from+len(c)/2)
		}
		from += len(c)
	}
	return Split(s.normalScores(middle))
}

// normalScores returns the normal scores of the draws among those that are not left out, by chain.
func (s *sample) normalScores(leftOut []int) [][]float64 {
	z := make([]float64, len(s.all))
	score := s.scores.of(len(z) - len(leftOut))
	s.ranks(leftOut, func(at int, rank float64) { z[at] = score(rank) })
	return chainsOf(z, s.x)
}

// chainsOf returns parts of all that are as long as the chains of like.
func chainsOf(all []float64, like [][]float64) [][]float64 {
	out := make([][]float64, len(like))
	for c, chain := range like {
		out[c], all = all[:len(chain):len(chain)], all[len(chain):]
	}
	return out
}

// scores holds the normal scores of the ranks among n draws, which are the same for all quantities of
// a run.
type scores struct {
	mu sync.Mutex
	n  int
	z  []float64 // score of each rank, from 1
}

// of returns the function from a rank among n draws to its normal score.
func (s *scores) of(n int) func(rank float64) float64 {
	direct := func(rank float64) float64 { return mathext.NormalQuantile((rank - 0.375) / (float64(n) + 0.25)) }
	if s == nil {
		return direct
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n != n {
		s.n, s.z = n, make([]float64, n)
		for i := range s.z {
			s.z[i] = direct(float64(i + 1))
		}
	}
	z := s.z
	return func(rank float64) float64 {
		if k := int(rank); float64(k) == rank {
			return z[k-1]
		}
		return direct(rank) // draws that are equal share it
	}
}
