// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

// Columns of small images for sums of filters are gathered from planes with zeros around them: a row of columns is one copy, or none, as
// where filters slide. The places at the ends of rows count as 0.

// wide is the memory of sums of filters of small images.
type wide[T Real] struct {
	row, plane int   // numbers of a row and of a plane with its zeros
	count      int   // places, with those at the ends of rows
	offsets    []int // of the elements of a filter in a plane
	planes     [][]T // channels with their zeros, for each goroutine
	results    [][]T // results at all places, for each goroutine

	dot func(a, b *T, n int) float64
}

// widened reports whether planes with zeros pay for filters of some channels at a time: whether they stay in the cache with the results,
// and fewer rows of them than of columns are copied.
func (v *convolution) widened(channels, size int) bool {
	row := v.w + 2*v.pad[1]
	plane, count := row*(v.h+2*v.pad[0]), (v.p-1)*row+v.q
	return v.stride == [2]int{1, 1} && v.places() > 0 && 10*count <= 13*v.places() &&
		5*(channels+v.o) <= 3*channels*v.a*v.b && size*(channels*plane+v.o*count) <= columnBytes
}

func newWide[T Real](c *Call, v *convolution, channels int) *wide[T] {
	w := &wide[T]{row: v.w + 2*v.pad[1], dot: Dot[T](c)}
	w.plane, w.count = w.row*(v.h+2*v.pad[0]), (v.p-1)*w.row+v.q
	for a := range v.a {
		for b := range v.b {
			w.offsets = append(w.offsets, a*v.by[0]*w.row+b*v.by[1])
		}
	}
	for range max(1, c.Threads) {
		w.planes = append(w.planes, aligned[T](channels*w.plane))
		w.results = append(w.results, aligned[T](v.o*w.count))
	}
	return w
}

// surround copies channels c0..c1-1 of the image of a group into the planes of a goroutine.
func (s *scratchConv[T]) surround(hand int, images []T, group, c0, c1 int) {
	v, w := &s.v, s.wide
	for c := c0; c < c1; c++ {
		CopyRows(s.l, v.h, v.w, w.planes[hand][(c-c0)*w.plane+v.pad[0]*w.row+v.pad[1]:], w.row, images[(group*v.c+c)*v.h*v.w:], v.w)
	}
}

// spreadOut copies the results of a group to all places.
func (s *scratchConv[T]) spreadOut(hand int, results []T, group int) {
	v, w := &s.v, s.wide
	for o := range v.o {
		CopyRows(s.l, v.p, v.q, w.results[hand][o*w.count:], w.row, results[(group*v.o+o)*v.places():], v.q)
	}
}

// columnsOf copies the columns of n places from first on of so many channels.
func (s *scratchConv[T]) columnsOf(hand, channels, first, n int) []T {
	w, to := s.wide, s.columns[hand]
	for c := range channels {
		for _, at := range w.offsets {
			copy(to[:n], w.planes[hand][c*w.plane+at+first:])
			to = to[n:]
		}
	}
	return s.columns[hand]
}

// filtersWide computes the filters of channels c0..c1-1 of a group.
func (s *scratchConv[T]) filtersWide(hand, group, c0, c1 int) {
	v, w := &s.v, s.wide
	rows, at := (c1-c0)*len(w.offsets), c0*len(w.offsets)
	filters, results := s.out[group*v.o*v.depth:], w.results[hand]
	for o := range v.o {
		clear(filters[o*v.depth+at:][:rows])
	}
	for image := range v.n {
		one := image*v.groups + group
		s.surround(hand, s.in[0], one, c0, c1)
		s.spreadOut(hand, s.in[1], one)
		if v.o == 1 {
			for k := range rows {
				from := &w.planes[hand][k/len(w.offsets)*w.plane+w.offsets[k%len(w.offsets)]]
				filters[at+k] += T(w.dot(&results[0], from, w.count))
			}
			continue
		}
		for first := 0; first < w.count; first += v.tile {
			n := min(v.tile, w.count-first)
			gemm(s.l, &s.ws[hand], false, true, v.o, rows, n, results[first:], w.count, s.columnsOf(hand, c1-c0, first, n), n, 1, filters[at:], v.depth)
		}
	}
}
