// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import "slices"

// Space gives out parts of an arena, the first that is free and large enough.
type Space struct {
	End  int // size of the arena
	free []span
}

type span struct{ at, size int }

// Take returns the position of n free elements.
func (s *Space) Take(n int) int {
	for i, f := range s.free {
		if f.size >= n {
			s.free[i] = span{f.at + n, f.size - n}
			if f.size == n {
				s.free = slices.Delete(s.free, i, i+1)
			}
			return f.at
		}
	}
	at := s.End
	s.End = min(s.End+n, most)
	return at
}

// Release gives n elements back and joins them with their neighbours.
func (s *Space) Release(at, n int) {
	i, _ := slices.BinarySearchFunc(s.free, at, func(a span, at int) int { return a.at - at })
	s.free = slices.Insert(s.free, i, span{at, n})
	if i+1 < len(s.free) && at+n == s.free[i+1].at {
		s.free[i].size += s.free[i+1].size
		s.free = slices.Delete(s.free, i+1, i+2)
	}
	if i > 0 && s.free[i-1].at+s.free[i-1].size == at {
		s.free[i-1].size += s.free[i].size
		s.free = slices.Delete(s.free, i, i+1)
	}
}
