// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"sync/atomic"

	"github.com/euryale-dev/euryale/kernels"
)

// The adjoints of a convolution are sums of rows with weights, the results: rows of filters for the images, and rows of what lies under a
// filter for the filters. They are long if the channels of an element lie side by side, and the elements of a row of a filter too. Results
// that are zero, as most are behind poolings by maxima, cost nothing.

// rowSums is the memory of an adjoint of a convolution.
type rowSums[T Real] struct {
	v          convolution
	l          kernels.Level
	rooms      int   // for groups of channels of images
	images     int   // how many are arranged at a time
	first      int   // the first of these
	row, image int   // numbers of a row of an image with its zeros, and the room for the image
	beside     int   // elements of a row of a filter that do not lie side by side in an image
	run, pitch int   // numbers that do, and the room for them in a filter
	pixels     []T   // images with their channels side by side
	filters    []T   // filters, by elements that are not side by side, rows, and numbers that are
	totals     []T   // sums of filters, of which some images are added up in filters
	every      int   // how many these are: sums of few numbers are more exact
	places     []int // where each place of a filter begins in an image
	results    []int // where each filter begins
	band       int   // rows of places whose results are listed at a time, by places
	planes     int   // planes of results that are listed at a time, by channels
	lists      []lists[T]
	total      func(a *T, n int) float64
	add        func(dst, a, b *T, n int)
	infinite   atomic.Bool // whether a factor of results is not finite, so that zeros count

	arranging, working rows
	out                []T
	in                 [][]T
}

// lists are results of one goroutine, without zeros.
type lists[T Real] struct {
	weights []T
	where   []int // what they are multiplied with
	end     []int // of each list, in ends
	ends    []int
	at      []int // where what each list adds up to begins
	turned  []T   // results with their channels side by side
}

const (
	arrangedBytes = 8 << 20 // about the size of the images that are arranged at a time
	listed        = 1 << 16 // results that are listed at a time
	addedAtOnce   = 1 << 10 // results in a sum
	longRun       = 128     // bytes of a row
)

// mostlyZero reports whether so few results are not zero that they are worth looking for. It looks at a part of them.
func mostlyZero[T Real](v *convolution, results []T) bool {
	apart := max(17, v.n*v.groups*v.o/8|1) // from one plane to the next: not all of the same channel
	size, seen, found := v.places(), 0, 0
	for k := 0; k < v.n*v.groups*v.o; k += apart {
		for _, g := range results[k*size:][:size] {
			found += one(g != 0)
		}
		seen += size
	}
	return 3*found < seen
}

// newRowSums plans for room for so many groups of channels of images.
func newRowSums[T Real](c *Call, v convolution, rooms int) *rowSums[T] {
	w := &rowSums[T]{v: v, l: c.Level, rooms: rooms, images: rooms / v.groups, total: kernelReduce[T](c.Level, "sum"), add: Add[T](c),
		every: max(1, addedAtOnce/max(1, v.places())),
		row:   (v.w + 2*v.pad[1]) * v.c, beside: 1, run: v.b * v.c,
		band: max(1, listed/max(1, v.o*v.q)), planes: max(1, min(v.o, listed/max(1, v.places())))}
	if v.by[1] > 1 {
		w.beside, w.run = v.b, v.c
	}
	w.pitch = (w.run + kernels.Room) &^ kernels.Room
	w.image = (w.row*(v.h+2*v.pad[0]) + 2*kernels.Room) &^ kernels.Room
	w.lists = make([]lists[T], max(1, c.Threads))
	return w
}

// long reports whether rows are so long, and images so small, that sums of them take less time than products of gathered columns even if
// no result is zero.
func (w *rowSums[T]) long() bool {
	return sizeOf[T]()*w.run >= longRun && sizeOf[T]()*w.image <= columnBytes
}

// begin makes room, once.
func (w *rowSums[T]) begin(out []T, in [][]T) {
	v := &w.v
	w.out, w.in = out, in
	if w.places != nil {
		return
	}
	w.pixels = aligned[T](w.rooms * w.image)
	w.filters = aligned[T](v.groups * v.o * w.size())
	w.places, w.results = make([]int, v.places()+kernels.Room), make([]int, v.o+kernels.Room)
	for k := range v.places() {
		w.places[k] = w.at(k/v.q, k%v.q, 0)
	}
	for k := range v.o {
		w.results[k] = k * w.size()
	}
	most := max(v.o*min(w.band, v.p)*v.q, w.planes*v.places())
	for i := range w.lists {
		w.lists[i] = lists[T]{weights: make([]T, most+kernels.Room), where: make([]int, most+kernels.Room), ends: make([]int, max(v.o, v.places())), turned: aligned[T](most)}
	}
}

// size is the room for a filter.
func (w *rowSums[T]) size() int { return w.beside * w.v.a * w.pitch }

// at is where the elements of an image under element b of a row of a filter begin, at place p, q of the filter.
func (w *rowSums[T]) at(p, q, b int) int {
	v := &w.v
	return p*v.stride[0]*w.row + (q*v.stride[1]+b*v.by[1])*v.c
}

// inside is where row y of an image begins among its zeros.
func (w *rowSums[T]) inside(y int) int { return (y+w.v.pad[0])*w.row + w.v.pad[1]*w.v.c }

// finite reports whether all numbers are. Products of others and zeros are not zero.
func (w *rowSums[T]) finite(x []T) bool {
	if len(x) == 0 {
		return true
	}
	s := w.total(&x[0], len(x))
	return s-s == 0
}

// arrangeFilter puts a filter into the room for it, or what is in the room into the filter.
func (w *rowSums[T]) arrangeFilter(room, filter []T, back bool) {
	v := &w.v
	step := v.c // from one element of a row to the next
	if w.beside > 1 {
		step = v.a * w.pitch
	}
	for c := range v.c {
		for a := range v.a {
			row, to := filter[(c*v.a+a)*v.b:][:v.b], a*w.pitch+c
			for b := range row {
				if back {
					row[b] = room[to]
				} else {
					room[to] = row[b]
				}
				to += step
			}
		}
	}
}

// convImages spreads results over images.
func (w *rowSums[T]) convImages(c *Call, out []T, in [][]T) {
	v := &w.v
	w.begin(out, in)
	w.infinite.Store(!w.finite(in[1]))
	for k := range v.groups * v.o {
		w.arrangeFilter(w.filters[k*w.size():], in[1][k*v.depth:(k+1)*v.depth], false)
	}
	c.eachRow(&w.working, v.n*v.groups, v.work(), w.spread)
}

func (w *rowSums[T]) spread(hand, from, to int) {
	v, pixels := &w.v, w.pixels[hand*w.image:]
	for k := from; k < to; k++ {
		clear(pixels[:w.image])
		w.spreadOver(hand, k, pixels)
		for y := range v.h {
			transpose(w.l, w.out[k*v.c*v.h*v.w+y*v.w:], v.h*v.w, pixels[w.inside(y):], v.c, v.w, v.c)
		}
	}
}

func (w *rowSums[T]) spreadOver(hand, k int, pixels []T) {
	v, l := &w.v, &w.lists[hand]
	size, places := w.size(), v.places()
	results, filters := w.in[0][k*v.o*places:(k+1)*v.o*places], w.filters[k%v.groups*v.o*size:]
	for p := 0; p < v.p; p += w.band {
		first, end := p*v.q, min(p+w.band, v.p)*v.q
		transpose(w.l, l.turned, v.o, results[first:], places, v.o, end-first)
		l.end, l.at = l.ends[:end-first], w.places[first:end]
		w.find(l, v.o, l.turned, w.results)
		w.addUp(l, filters, w.pitch, v.a*w.pitch, pixels, v.by[0]*w.row, v.by[1]*v.c)
	}
}

// addUp adds rows of x to dst; one element of a row of a filter, which is not beside the one before, is so far from it.
func (w *rowSums[T]) addUp(l *lists[T], x []T, xs, xBeside int, dst []T, ds, dstBeside int) {
	for b := range w.beside {
		weightedRows(w.l, w.v.a, w.run, l, x[b*xBeside:], xs, dst[b*dstBeside:], ds)
	}
}

// find lists the results of rows of n and what is in their places of where.
func (w *rowSums[T]) find(l *lists[T], n int, results []T, where []int) {
	if w.infinite.Load() {
		for i := range len(l.end) * n {
			l.weights[i], l.where[i] = results[i], where[i%n]
		}
		for row := range l.end {
			l.end[row] = (row + 1) * n
		}
		return
	}
	switch results := any(results).(type) {
	case []float64:
		kernels.Nonzero64(w.l, n, results, where, any(l.weights).([]float64), l.where, l.end)
	case []float32:
		kernels.Nonzero32(w.l, n, results, where, any(l.weights).([]float32), l.where, l.end)
	}
}

// convFilters sums up filters.
func (w *rowSums[T]) convFilters(c *Call, out []T, in [][]T) {
	v := &w.v
	w.begin(out, in)
	if w.totals == nil {
		w.totals = aligned[T](len(w.filters))
	}
	clear(w.filters)
	clear(w.totals)
	w.infinite.Store(!w.finite(in[0]))
	for w.first = 0; w.first < max(1, v.n); w.first += w.images {
		c.eachRow(&w.arranging, w.images*v.groups, v.work(), w.arrange)
		c.eachRow(&w.working, v.groups*v.o, v.work(), w.sums)
	}
}

// arrange puts the channels of images side by side.
func (w *rowSums[T]) arrange(_, from, to int) {
	v := &w.v
	size := v.c * v.h * v.w
	for k := from; k < min(to, (v.n-w.first)*v.groups); k++ {
		image := w.in[0][(w.first*v.groups+k)*size:][:size]
		for y := range v.h {
			transpose(w.l, w.pixels[k*w.image+w.inside(y):], v.c, image[y*v.w:], v.h*v.w, v.c, v.w)
		}
	}
}

// sums adds up filters from..to-1.
func (w *rowSums[T]) sums(hand, from, to int) {
	v := &w.v
	part, whole := w.filters[from*w.size():to*w.size()], w.totals[from*w.size():to*w.size()]
	for k := range min(w.images, v.n-w.first) {
		for group := from / v.o; group*v.o < to; group++ {
			w.sumOver(hand, k, group, max(from, group*v.o), min(to, (group+1)*v.o))
		}
		if image := w.first + k + 1; image%w.every == 0 || image == v.n {
			w.add(&whole[0], &whole[0], &part[0], len(part))
			clear(part)
		}
	}
	if w.first+w.images >= v.n {
		for k := from; k < to; k++ {
			w.arrangeFilter(w.totals[k*w.size():], w.out[k*v.depth:(k+1)*v.depth], true)
		}
	}
}

// sumOver adds up filters from..to-1, of a group, over arranged image k.
func (w *rowSums[T]) sumOver(hand, k, group, from, to int) {
	v, l := &w.v, &w.lists[hand]
	results := w.in[1][((w.first+k)*v.groups*v.o+from)*v.places():]
	for from < to {
		n := min(w.planes, to-from)
		l.end, l.at = l.ends[:n], w.results[from-group*v.o:][:n]
		w.find(l, v.places(), results[:n*v.places()], w.places)
		w.addUp(l, w.pixels[(k*v.groups+group)*w.image:], v.by[0]*w.row, v.by[1]*v.c, w.filters[group*v.o*w.size():], w.pitch, v.a*w.pitch)
		results, from = results[n*v.places():], from+n
	}
}

// weightedRows is kernels.WeightedRows64 or kernels.WeightedRows32.
func weightedRows[T Real](level kernels.Level, rows, n int, l *lists[T], x []T, xs int, dst []T, ds int) {
	switch dst := any(dst).(type) {
	case []float64:
		kernels.WeightedRows64(level, rows, n, l.end, any(l.weights).([]float64), l.where, any(x).([]float64), xs, dst, l.at, ds)
	case []float32:
		kernels.WeightedRows32(level, rows, n, l.end, any(l.weights).([]float32), l.where, any(x).([]float32), xs, dst, l.at, ds)
	}
}

// transpose is kernels.Transpose64 or kernels.Transpose32.
func transpose[T Real](l kernels.Level, dst []T, ds int, src []T, ss, rows, columns int) {
	switch dst := any(dst).(type) {
	case []float64:
		kernels.Transpose64(l, dst, ds, any(src).([]float64), ss, rows, columns)
	case []float32:
		kernels.Transpose32(l, dst, ds, any(src).([]float32), ss, rows, columns)
	}
}
