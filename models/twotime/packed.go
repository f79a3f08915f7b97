package twotime

import "math"

// packed are the pairs i < j of one angle, row by row: y = c2-1 times the weight of each, and the weights. Weights are squares of those of
// Data.
type packed[T float32 | float64] struct {
	y     []T
	w     []T     // nil: all are alike
	scale float64 // that all sums are multiplied by
	// sums of the weights, and of the weights times y and y^2
	ones, ys, squares float64
}

// pack gathers the pairs of an angle.
func pack[T float32 | float64](d *Data, angle int) packed[T] {
	n := len(d.Setup.Times)
	var p packed[T]
	each := func(f func(at int, w, y float64)) {
		at := 0
		for i := range n {
			for j := i + 1; j < n; j++ {
				w := d.weight(angle, i, j)
				y := 0.0
				if w > 0 {
					y = d.C2[angle][i*n+j] - 1
				}
				f(at, w*w, y)
				at++
			}
		}
	}
	alike := true
	each(func(at int, w, y float64) {
		if at == 0 {
			p.scale = w
		}
		alike = alike && w == p.scale && w > 0
		p.ones, p.ys, p.squares = p.ones+w, p.ys+w*y, p.squares+w*y*y
	})
	count := n * (n - 1) / 2
	p.y = make([]T, count)
	if alike {
		each(func(at int, _, y float64) { p.y[at] = T(y) })
		return p
	}
	p.scale = 0 // weights of order 1, for float32
	each(func(_ int, w, _ float64) { p.scale = math.Max(p.scale, w) })
	if p.scale == 0 {
		p.scale = 1
	}
	p.w = make([]T, count)
	each(func(at int, w, y float64) { p.y[at], p.w[at] = T(w/p.scale*y), T(w/p.scale) })
	return p
}

// row is where the pairs of frame i with i+1 begin.
func rowStart(n, i int) int { return i*n - i*(i+1)/2 }

// fill copies pairs of a row i with columns begin..begin+len(to)-1; those before i+1 are 0.
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
