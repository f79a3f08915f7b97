// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import "slices"

// choose returns the winners: the neurons of largest input less bias and fatigue, the lower number
// among equals, as many as the area's fields allow.
func (a *Area) choose() []int32 {
	a.subtract()
	k := a.K
	if a.Threshold > 0 || a.Relative > 0 {
		k = a.count()
	}
	return a.largest(k)
}

// subtract computes the net input: input less bias and fatigue.
func (a *Area) subtract() {
	a.net = append(a.net[:0], a.x...)
	for j, b := range a.Bias {
		a.net[j] -= b
	}
	for i, w := range a.past[:min(len(a.past), max(a.Fatigue.Period, 0))] {
		s := a.Fatigue.Strength * (1 - float64(i)/float64(a.Fatigue.Period))
		for _, j := range w {
			a.net[j] -= s
		}
	}
}

// count returns the number of neurons that pass the threshold, within the bounds.
func (a *Area) count() int {
	floor, least, most := a.Threshold, 0, a.K
	if a.Relative > 0 {
		floor = max(floor, a.Relative*slices.Max(a.net))
		least, most = max(a.Least, 1), min(orElse(a.Most, a.K), a.N)
	}
	n := 0
	for _, v := range a.net {
		if v >= floor && v > 0 {
			n++
		}
	}
	return min(max(n, least), most)
}

// largest returns the k neurons of largest net input in order of number: one pass finds the k-th
// largest value, another collects the neurons above it.
func (a *Area) largest(k int) []int32 {
	if k < 1 {
		return nil
	}
	kth, ties := a.kth(k)
	w := make([]int32, 0, k)
	for j, v := range a.net {
		if v > kth || v == kth && ties > 0 {
			if v == kth {
				ties--
			}
			w = append(w, int32(j))
		}
	}
	return w
}

// kth returns the k-th largest net input, and how many of the k largest equal it. It keeps the k
// largest so far in a heap with the least on top.
func (a *Area) kth(k int) (kth float64, ties int) {
	h := append(a.heap[:0], a.net[:k]...)
	for i := k/2 - 1; i >= 0; i-- {
		sink(h, i)
	}
	for _, v := range a.net[k:] {
		if v > h[0] {
			h[0] = v
			sink(h, 0)
		}
	}
	a.heap = h
	for _, v := range h {
		if v == h[0] {
			ties++
		}
	}
	return h[0], ties
}

func sink(h []float64, i int) {
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if h[i] <= h[c] {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// refract increases the bias of the winners.
func (a *Area) refract() {
	if a.Refraction > 0 && a.Bias == nil {
		a.Bias = make([]float64, a.N)
	}
	if a.Bias == nil {
		return
	}
	for _, j := range a.Winners {
		if a.Refraction > 0 {
			a.Bias[j] += a.Refraction
		} else {
			a.Bias[j] += a.Beta * a.x[j]
		}
	}
}

// remember keeps the winners of as many steps as fatigue lasts.
func (a *Area) remember() {
	if a.Fatigue.Period < 1 {
		a.past = nil
		return
	}
	if len(a.past) < a.Fatigue.Period {
		a.past = append(a.past, nil)
	}
	a.past = a.past[:min(len(a.past), a.Fatigue.Period)]
	copy(a.past[1:], a.past)
	a.past[0] = a.Winners
}

// Compete lets areas inhibit each other: only the area whose winners have the largest summed input
// goes on firing, the first among equals. It returns the index of that area, or -1 if all are
// silent.
func Compete(areas ...*Area) int {
	best := -1
	for i, a := range areas {
		if len(a.Winners) > 0 && (best < 0 || a.drive > areas[best].drive) {
			best = i
		}
	}
	for i, a := range areas {
		if i != best {
			a.Inhibit()
		}
	}
	return best
}
