// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import "github.com/euryale-dev/euryale/kernels"

// Filters with a stride of 1 slide over planes with zeros around them. If the places of a filter are counted along the rows of such a
// plane, its ends included, then all places have their numbers under one element of the filter side by side, and the planes themselves
// are the columns: none are copied. What comes out at the ends, where a filter reaches into the next row, is left out.

// sliding is the memory of a convolution by sliding filters.
type sliding[T Real] struct {
	lines      int   // rows of results of a strip, which is done at a time
	row, plane int   // numbers of a row and of a plane of a strip, with its zeros
	ld         int   // numbers from one channel of results to the next
	under      []int // where the numbers under each element of a filter begin
	planes     [][]T // of each goroutine
	out        [][]T // results at all places, of each goroutine

	filters, images, results []T
}

// slides reports whether filters slide. Those of a single element are products with the images themselves.
func (v *convolution) slides() bool {
	row := v.w + 2*v.pad[1]
	return !v.direct && v.stride == [2]int{1, 1} && min(v.pad[0], v.pad[1]) >= 0 && v.places() > 0 && v.depth > 0 && 5*row <= 9*v.q
}

// turned is the convolution of results with turned filters that is the adjoint of v by its images, if its padding is not negative.
func (v *convolution) turned() convolution {
	u := *v
	u.c, u.o, u.h, u.w, u.p, u.q = v.o, v.c, v.p, v.q, v.h, v.w
	u.pad = [2]int{v.by[0]*(v.a-1) - v.pad[0], v.by[1]*(v.b-1) - v.pad[1]}
	u.depth = u.c * u.a * u.b
	return u
}

// turnFilters sets to to the filters of v.turned().
func turnFilters[T Real](v *convolution, to, filters []T) {
	size := v.a * v.b
	for k := range v.groups * v.o {
		group, o := k/v.o, k%v.o
		for c := range v.c {
			from, turned := filters[(k*v.c+c)*size:][:size], to[((group*v.c+c)*v.o+o)*size:][:size]
			for i, u := range from {
				turned[size-1-i] = u
			}
		}
	}
}

func newSliding[T Real](v *convolution, hands int) *sliding[T] {
	w := &sliding[T]{row: v.w + 2*v.pad[1]}
	reach := v.by[0] * (v.a - 1)
	each := sizeOf[T]() * w.row * (v.c + v.o) // bytes of a row
	w.lines = min(v.p, max(1, (columnBytes-sizeOf[T]()*w.row*v.c*reach)/each))
	if share := v.n * v.groups; share > 0 { // few images are shared by strips
		w.lines = min(w.lines, max(1, v.p*share/(partsEach*hands)))
	}
	w.plane = (w.lines + reach) * w.row
	w.ld = (w.lines*w.row + kernels.Room) &^ kernels.Room
	for c := range v.c {
		for a := range v.a {
			for b := range v.b {
				w.under = append(w.under, c*w.plane+a*v.by[0]*w.row+b*v.by[1])
			}
		}
	}
	for range hands {
		w.planes = append(w.planes, aligned[T](v.c*w.plane+v.by[1]*(v.b-1)+kernels.Room))
		w.out = append(w.out, aligned[T](v.o*w.ld))
	}
	return w
}

func (w *sliding[T]) strips(v *convolution) int { return (v.p + w.lines - 1) / w.lines }

// slideStrip computes a strip of the results of a group.
func (s *scratchConv[T]) slideStrip(hand, k int) {
	v, w := &s.v, s.slide
	group, first := k/w.strips(v), k%w.strips(v)*w.lines
	lines, planes := min(w.lines, v.p-first), w.planes[hand]
	for c := range v.c {
		image, plane := w.images[(group*v.c+c)*v.h*v.w:], planes[c*w.plane:]
		rows, above := lines+v.by[0]*(v.a-1), min(max(v.pad[0]-first, 0), lines+v.by[0]*(v.a-1))
		inside := max(0, min(rows, v.h+v.pad[0]-first)-above)
		clear(plane[:above*w.row])
		clear(plane[(above+inside)*w.row : rows*w.row])
		if inside > 0 {
			CopyRows(s.l, inside, v.w, plane[above*w.row+v.pad[1]:], w.row, image[(first+above-v.pad[0])*v.w:], v.w)
		}
	}
	slide(s.l, v.o, (lines-1)*w.row+v.q, v.depth, w.filters[group%v.groups*v.o*v.depth:], planes, w.under, w.out[hand], w.ld)
	for o := range v.o {
		CopyRows(s.l, lines, v.q, w.results[(group*v.o+o)*v.places()+first*v.q:], v.q, w.out[hand][o*w.ld:], w.row)
	}
}

// CopyRows is kernels.CopyRows64 or kernels.CopyRows32.
func CopyRows[T Real](l kernels.Level, rows, n int, to []T, apart int, from []T, apartFrom int) {
	switch to := any(to).(type) {
	case []float64:
		kernels.CopyRows64(l, rows, n, to, apart, any(from).([]float64), apartFrom)
	case []float32:
		kernels.CopyRows32(l, rows, n, to, apart, any(from).([]float32), apartFrom)
	}
}

// slide is kernels.Slide64 or kernels.Slide32.
func slide[T Real](l kernels.Level, m, n, k int, a, b []T, rows []int, c []T, ldc int) {
	switch c := any(c).(type) {
	case []float64:
		kernels.Slide64(l, m, n, k, any(a).([]float64), k, any(b).([]float64), rows, c, ldc)
	case []float32:
		kernels.Slide32(l, m, n, k, any(a).([]float32), k, any(b).([]float32), rows, c, ldc)
	}
}
