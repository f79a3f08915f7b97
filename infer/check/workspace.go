// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import "slices"

// Workspace is the memory of verdicts, with what those of data along the same axes share: the order, cosines and neighbours of
// the residuals. A Workspace that judges many small fits takes half the time of as many calls of Judge, and finds the same. The
// zero value is ready for use, by one goroutine at a time.
type Workspace struct {
	numbers arena[float64]
	rows    arena[[]float64]
	places  arena[int]
	tests   []test
	basis   [][]float64 // columns that are tried
	spread  Data        // what spreadTest regresses
	orders  []*ordering // of the axes seen last, the latest first
	count   []float64   // 1, 2, ...

	dof      float64    // degrees of freedom of expected
	expected [2]float64 // central 99 % of the reduced chi-square
}

// reset takes back all memory for the next verdict.
func (m *Workspace) reset() {
	m.numbers.reset()
	m.rows.reset()
	m.places.reset()
}

// arena lends slices until it is reset. What does not fit is allocated; the next time it fits.
type arena[T any] struct {
	block       []T
	used, short int // elements lent, and elements that did not fit
}

// mostRoom bounds the elements that an arena keeps.
const mostRoom = 1 << 16

func (a *arena[T]) reset() {
	if need := a.used + a.short; a.short > 0 && need <= mostRoom {
		a.block = make([]T, need)
	}
	a.used, a.short = 0, 0
}

// take returns n zeros.
func (a *arena[T]) take(n int) []T {
	if n > len(a.block)-a.used {
		a.short += n
		return make([]T, n)
	}
	out := a.block[a.used : a.used+n : a.used+n]
	a.used += n
	clear(out)
	return out
}

// counting returns 1, 2, ... to n.
func (m *Workspace) counting(n int) []float64 {
	for i := len(m.count); i < n; i++ {
		m.count = append(m.count, float64(i+1))
	}
	return m.count[:n]
}

// ordering is the order of values along an axis, and what follows from it.
type ordering struct {
	values []float64
	places []int       // indices of the values, in ascending order of value
	ranks  []float64   // (rank - 1/2)/n of each value
	waves  [][]float64 // cosines of the ranks
	pairs  [][2]int32  // places that follow each other
}

// mostOrders is the number of axes whose order is kept.
const mostOrders = 8

// order sorts the values of an axis, unless it did so not long ago.
func (m *Workspace) order(values []float64) *ordering {
	for k, o := range m.orders {
		if slices.Equal(o.values, values) {
			copy(m.orders[1:k+1], m.orders[:k])
			m.orders[0] = o
			return o
		}
	}
	o := &ordering{values: slices.Clone(values), places: sorted(values)}
	o.ranks = ranks(values, o.places)
	m.orders = slices.Insert(m.orders[:min(len(m.orders), mostOrders-1)], 0, o)
	return o
}

// cosines returns cos(pi k u) of the ranks u for k from 0 to most, at most waves.
func (o *ordering) cosines(most int) [][]float64 {
	if len(o.waves) <= most {
		o.waves = cosines(o.ranks, most)
	}
	return o.waves[: most+1 : most+1]
}

// neighbours pairs the values that follow each other.
func (o *ordering) neighbours() [][2]int32 {
	for i := len(o.pairs) + 1; i < len(o.places); i++ {
		o.pairs = append(o.pairs, [2]int32{int32(o.places[i-1]), int32(o.places[i])})
	}
	return o.pairs
}
