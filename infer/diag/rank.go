// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Ranks returns the rank of every draw among all draws of all chains, from 1;
// equal draws share the average of their ranks.
func Ranks(x [][]float64) [][]float64 {
	type place struct {
		value       float64
		chain, draw int
	}
	var order []place
	out := make([][]float64, len(x))
	for c := range x {
		out[c] = make([]float64, len(x[c]))
		for d, v := range x[c] {
			order = append(order, place{v, c, d})
		}
	}
	slices.SortFunc(order, func(a, b place) int { return nanLast(a.value, b.value) })
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && order[j].value == order[i].value {
			j++
		}
		for _, p := range order[i:j] {
			out[p.chain][p.draw] = float64(i+j+1) / 2 // mean of i+1 .. j
		}
		i = j
	}
	return out
}

// ZScale returns the normal scores of the ranks of x among its S draws.
//
//	z = Phi^-1((rank - 3/8) / (S + 1/4))
func ZScale(x [][]float64) [][]float64 {
	s := 0
	for _, c := range x {
		s += len(c)
	}
	return apply(Ranks(x), func(r float64) float64 {
		return mathext.NormalQuantile((r - 0.375) / (float64(s) + 0.25))
	})
}
