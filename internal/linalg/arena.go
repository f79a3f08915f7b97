// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package linalg

// Arena cuts vectors from one allocation. The zero Arena allocates each of them.
type Arena struct{ free []float64 }

// NewArena returns an arena of n numbers.
func NewArena(n int) *Arena { return &Arena{make([]float64, n)} }

// ArenaOf returns an arena that cuts zeros from memory.
func ArenaOf(memory []float64) *Arena { return &Arena{memory} }

// Floats returns a vector of k zeros.
func (s *Arena) Floats(k int) []float64 {
	if k > len(s.free) {
		s.free = make([]float64, k)
	}
	out := s.free[:k:k]
	s.free = s.free[k:]
	return out
}
