// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import "github.com/euryale-dev/euryale/kernels"

// pooling is the geometry of windows that slide over planes (planes, H, W, lanes) to (planes, P, Q, lanes).
type pooling struct {
	size, stride, pad, by  [2]int
	planes, h, w, p, q, in int
}

func poolingOf(attr, images, pools []int) pooling {
	return pooling{[2]int(attr[:2]), [2]int(attr[2:4]), [2]int(attr[4:6]), [2]int(attr[6:8]), images[0] * images[1], images[2], images[3], pools[2], pools[3], attr[8]}
}

// each calls f for every window of planes from..to-1 and lane: base and plane are where the numbers of the pool and of the image
// begin, and a0..a1-1, b0..b1-1 the elements of the window that are in the image, of which the first is at y, x.
func (v *pooling) each(from, to int, f func(pool, plane, y, x, a0, a1, b0, b1 int)) {
	inside := func(axis, at, length int) (first, end int) {
		by := v.by[axis]
		if at < 0 {
			first = (-at + by - 1) / by
		}
		if at < length {
			end = min(v.size[axis], (length-1-at)/by+1)
		}
		return first, end
	}
	for k := from; k < to; k++ {
		for p := range v.p {
			y := p*v.stride[0] - v.pad[0]
			a0, a1 := inside(0, y, v.h)
			for q := range v.q {
				x := q*v.stride[1] - v.pad[1]
				b0, b1 := inside(1, x, v.w)
				f(((k*v.p+p)*v.q+q)*v.in, k*v.h*v.w*v.in, y, x, a0, a1, b0, b1)
			}
		}
	}
}

// pools is what a pooling keeps between runs.
type pools[T Real] struct {
	v       pooling
	l       kernels.Level
	f       func(hand, from, to int)
	out, in []T
	at      []int64
}

func (s *pools[T]) run(c *Call, out []T, in [][]T) error {
	s.out, s.in, s.at = out, in[0], c.OutInts
	if s.v.planes > 0 {
		c.EachRow(s.v.planes, s.v.planes*s.v.p*s.v.q*s.v.size[0]*s.v.size[1]*s.v.in, s.f)
	}
	return nil
}

// PoolIndices finds the largest element of each window.
func PoolIndices[T Real](c *Call, out []T, in [][]T) error {
	s := Scratch(c, func() *pools[T] {
		s := &pools[T]{v: poolingOf(c.Attr, c.InShape[0], c.Shape), l: c.Level}
		v := &s.v
		if v.in == 1 && v.inside() {
			s.f = func(_, from, to int) { s.largest(from, to) }
			return s
		}
		s.f = func(_, from, to int) {
			v.each(from, to, func(pool, plane, y, x, a0, a1, b0, b1 int) {
				for lane := range v.in {
					var best T
					at := -1
					for a := a0; a < a1; a++ {
						row := (y + a*v.by[0]) * v.w
						for b := b0; b < b1; b++ {
							i := row + x + b*v.by[1]
							if u := s.in[plane+i*v.in+lane]; at < 0 || u > best || u != u && best == best {
								best, at = u, i
							}
						}
					}
					s.at[pool+lane] = int64(at)
				}
			})
		}
		return s
	})
	return s.run(c, out, in)
}

// inside reports whether all windows are inside of the images and without gaps.
func (v *pooling) inside() bool {
	return v.pad == [2]int{} && v.by == [2]int{1, 1} && (v.p-1)*v.stride[0]+v.size[0] <= v.h && (v.q-1)*v.stride[1]+v.size[1] <= v.w
}

// largest finds the largest elements of windows that are inside of planes from..to-1.
func (s *pools[T]) largest(from, to int) {
	v := &s.v
	four := v.size == [2]int{2, 2} && v.stride[1] == 2 // the usual windows
	for k := from; k < to; k++ {
		plane, at := s.in[k*v.h*v.w:(k+1)*v.h*v.w], s.at[k*v.p*v.q:(k+1)*v.p*v.q]
		if four {
			largestOfFour(s.l, v.p, v.q, plane, v.stride[0]*v.w, v.w, at)
			continue
		}
		for i := range at {
			at[i] = int64(largestOf(v, plane, i/v.q*v.stride[0]*v.w+i%v.q*v.stride[1]))
		}
	}
}

// largestOfFour is kernels.LargestOfFour64 or kernels.LargestOfFour32.
func largestOfFour[T Real](l kernels.Level, rows, n int, plane []T, down, width int, at []int64) {
	switch plane := any(plane).(type) {
	case []float64:
		kernels.LargestOfFour64(l, rows, n, plane, down, width, at)
	case []float32:
		kernels.LargestOfFour32(l, rows, n, plane, down, width, at)
	}
}

// one returns 1 if is is true. It compiles to no branch, which would be as good as random to a processor.
func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// largestOf returns where the largest element of the window at e is, the first of equal ones, or the first NaN.
func largestOf[T Real](v *pooling, plane []T, e int) int {
	best, where := plane[e], e
	for row := e; row < e+v.size[0]*v.w; row += v.w {
		for b, u := range plane[row : row+v.size[1]] {
			if u > best {
				where = row + b
			}
			best = max(best, u)
		}
	}
	if best != best {
		return firstNaN(v, plane, e)
	}
	return where
}

// firstNaN returns where the first NaN of the window at e is.
func firstNaN[T Real](v *pooling, plane []T, e int) int {
	for row := e; ; row += v.w {
		for b, u := range plane[row : row+v.size[1]] {
			if u != u {
				return row + b
			}
		}
	}
}

// PoolSum adds up each window.
func PoolSum[T Real](c *Call, out []T, in [][]T) error {
	s := Scratch(c, func() *pools[T] {
		s := &pools[T]{v: poolingOf(c.Attr, c.InShape[0], c.Shape)}
		v := &s.v
		s.f = func(_, from, to int) {
			v.each(from, to, func(pool, plane, y, x, a0, a1, b0, b1 int) {
				for lane := range v.in {
					sum := 0.0
					for a := a0; a < a1; a++ {
						row := (y + a*v.by[0]) * v.w
						for b := b0; b < b1; b++ {
							sum += float64(s.in[plane+(row+x+b*v.by[1])*v.in+lane])
						}
					}
					s.out[pool+lane] = T(sum)
				}
			})
		}
		return s
	})
	return s.run(c, out, in)
}

// PoolSpread is the adjoint of PoolSum.
func PoolSpread[T Real](c *Call, out []T, in [][]T) error {
	s := Scratch(c, func() *pools[T] {
		s := &pools[T]{v: poolingOf(c.Attr, c.Shape, c.InShape[0])}
		v := &s.v
		s.f = func(_, from, to int) {
			size := v.h * v.w * v.in
			clear(s.out[from*size : to*size])
			v.each(from, to, func(pool, plane, y, x, a0, a1, b0, b1 int) {
				for lane := range v.in {
					g := s.in[pool+lane]
					for a := a0; a < a1; a++ {
						row := (y + a*v.by[0]) * v.w
						for b := b0; b < b1; b++ {
							s.out[plane+(row+x+b*v.by[1])*v.in+lane] += g
						}
					}
				}
			})
		}
		return s
	})
	return s.run(c, out, in)
}
