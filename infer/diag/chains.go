// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"slices"
)

// Split returns the first and the last half of every chain as chains of their
// own, the first halves before the last halves of the same chain. The middle
// draw of an odd length is dropped. The halves share memory with x.
func Split(x [][]float64) [][]float64 {
	out := make([][]float64, 0, 2*len(x))
	for _, c := range x {
		h := len(c) / 2
		out = append(out, c[:h], c[len(c)-h:])
	}
	return out
}

// Flatten returns all draws, chain after chain, in a new slice.
func Flatten(x [][]float64) []float64 { return slices.Concat(x...) }

// size returns the number of chains and of draws of the shortest chain.
func size(x [][]float64) (chains, draws int) {
	if len(x) == 0 {
		return 0, 0
	}
	draws = len(x[0])
	for _, c := range x {
		draws = min(draws, len(c))
	}
	return len(x), draws
}

// usable reports whether x has the given least size and no NaN.
func usable(x [][]float64, chains, draws int) bool {
	c, n := size(x)
	if c < chains || n < draws {
		return false
	}
	for _, c := range x {
		if slices.ContainsFunc(c, math.IsNaN) {
			return false
		}
	}
	return true
}

// apply returns f of every draw.
func apply(x [][]float64, f func(float64) float64) [][]float64 {
	out := make([][]float64, len(x))
	for i, c := range x {
		out[i] = make([]float64, len(c))
		for j, v := range c {
			out[i][j] = f(v)
		}
	}
	return out
}

// span returns the largest minus the smallest draw, NaN if any draw is.
func span(x [][]float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, c := range x {
		for _, v := range c {
			switch {
			case math.IsNaN(v):
				return v
			case v < lo || v > hi:
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return hi - lo
}
