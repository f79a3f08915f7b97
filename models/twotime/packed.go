// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import "math"

// packed are the pairs i < j of one angle as passes read them.
type packed[T float32 | float64] struct {
	// whole is the matrix of c2 where all pairs are finite, and is read as it is. Otherwise y are c2-1 of the pairs, row by row, and 0 where they
	// have no weight.
	whole []T
	y     []T
	w     []T // weights of the pairs; nil if all are the same
	band  int // pairs that are no farther apart do not count
	fixed
}

// pack gathers the pairs of an angle. Their weights are squares of those of Data.
func pack[T float32 | float64](d *Data, angle int) packed[T] {
	n := len(d.Setup.Times)
	p := packed[T]{band: d.Band}
	each := func(f func(at int, w, y float64)) {
		for i := range n {
			for j := i + 1 + d.Band; j < n; j++ {
				w := d.weight(angle, i, j)
				f(rowStart(n, i)+j-i-1, w*w, d.C2[angle][i*n+j]-1)
			}
		}
	}
	areAlike, areFinite := true, true
	each(func(_ int, w, y float64) {
		p.scale = max(p.scale, w) // so that weights are of order 1, for float32
		areFinite = areFinite && !math.IsNaN(y) && !math.IsInf(y, 0)
		if w > 0 {
			p.ones, p.ys, p.squares = p.ones+w, p.ys+w*y, p.squares+w*y*y
		}
	})
	each(func(_ int, w, _ float64) { areAlike = areAlike && w == p.scale })
	count := n * (n - 1) / 2
	if !areAlike {
		p.w = make([]T, count)
		each(func(at int, w, _ float64) { p.w[at] = T(w / p.scale) })
	}
	if whole, ok := any(d.C2[angle]).([]T); ok && areFinite {
		p.whole = whole
		return p
	}
	p.y = make([]T, count)
	each(func(at int, w, y float64) {
		if w > 0 {
			p.y[at] = T(y)
		}
	})
	return p
}

// values copies the pairs of a row i with columns begin..begin+len(to)-1; those that do not count, and rows beyond the last, are 0.
func (p *packed[T]) values(to []T, n, i, begin int) {
	if p.whole == nil {
		fill(to, p.y, n, i, begin)
		return
	}
	if i >= n {
		clear(to)
		return
	}
	before := min(max(i+1+p.band-begin, 0), len(to))
	clear(to[:before])
	copy(to[before:], p.whole[i*n+begin+before:])
}

// rowStart is where the pairs of frame i with i+1 begin.
func rowStart(n, i int) int { return i*n - i*(i+1)/2 }

// fill is values of packed pairs.
func fill[T float32 | float64](to, from []T, n, i, begin int) {
	if i >= n {
		clear(to)
		return
	}
	before := min(max(i+1-begin, 0), len(to))
	clear(to[:before])
	at := rowStart(n, i) + begin + before - i - 1
	copy(to[before:], from[at:])
}
