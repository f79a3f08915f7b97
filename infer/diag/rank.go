// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

// Ranks returns the rank of every draw among all draws of all chains, from 1;
// equal draws share the average of their ranks.
func Ranks(x [][]float64) [][]float64 {
	s := newSample(x)
	out := make([]float64, len(s.all))
	s.ranks(nil, func(at int, rank float64) { out[at] = rank })
	return chainsOf(out, x)
}

// ZScale returns the normal scores of the ranks of x among its S draws.
//
//	z = Phi^-1((rank - 3/8) / (S + 1/4))
func ZScale(x [][]float64) [][]float64 { return newSample(x).normalScores(nil) }
