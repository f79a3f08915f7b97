// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import "math"

// fill calls set with the index of every pixel whose middle lies in a polygon, on one of its edges
// or at a vertex. Where the polygon overlaps itself, the inside is where a ray outwards crosses
// an odd number of edges.
func fill(p []Point, height, width int, set func(i int)) {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, v := range p {
		for k := range v {
			low[k], high[k] = math.Min(low[k], v[k]), math.Max(high[k], v[k])
		}
	}
	var near [][2]Point // edges that touch the row; no other matters there
	for r := first(low[0]); r <= last(high[0], height); r++ {
		near = near[:0]
		at := p[len(p)-1]
		for _, to := range p {
			if math.Min(at[0], to[0]) <= float64(r) && float64(r) <= math.Max(at[0], to[0]) {
				near = append(near, [2]Point{at, to})
			}
			at = to
		}
		for c := first(low[1]); c <= last(high[1], width); c++ {
			if holds(near, float64(r), float64(c)) {
				set(r*width + c)
			}
		}
	}
}

func first(v float64) int       { return int(math.Max(math.Ceil(v), 0)) }
func last(v float64, n int) int { return int(math.Min(math.Floor(v), float64(n-1))) }

// holds reports whether a point lies in the polygon of these edges or on one of them.
func holds(edges [][2]Point, r, c float64) bool {
	odd := false
	for _, e := range edges {
		// Seen from the point: does the edge from a to b pass through it, or cross the ray to the right?
		a, b := e[0], e[1]
		ar, ac, br, bc := a[0]-r, a[1]-c, b[0]-r, b[1]-c
		cross := float64(ac*br) - float64(bc*ar)
		if cross == 0 && ar*br <= 0 && ac*bc <= 0 {
			return true
		}
		if (ar > 0) != (br > 0) && (cross > 0) == (br > ar) {
			odd = !odd
		}
	}
	return odd
}
