// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// Convolutions are products of matrices, of filters and of the columns of the image under all places of a filter. Where the filters slide,
// the columns lie in the image; else they are gathered a tile at a time, which stays in the cache.

// convolution is the geometry of a convolution of images (N, G C, H, W) with filters (G O, C, A, B) to (N, G O, P, Q).
type convolution struct {
	n, groups, c, o  int
	h, w, a, b, p, q int
	stride, pad, by  [2]int
	depth            int // elements of a filter, the rows of columns
	tile             int // places that are done at a time
	direct           bool
}

// columnBytes is the size of a tile of columns.
const columnBytes = 512 << 10

func newConvolution(attr []int, images, filters, results tensor.Shape) convolution {
	g := attr[6]
	v := convolution{n: images[0], groups: g, c: images[1] / g, o: filters[0] / g, h: images[2], w: images[3], a: filters[2], b: filters[3],
		p: results[2], q: results[3], stride: [2]int(attr[:2]), pad: [2]int(attr[2:4]), by: [2]int(attr[4:6])}
	v.depth = v.c * v.a * v.b
	v.direct = v.a*v.b == 1 && v.stride == [2]int{1, 1} && v.pad == [2]int{}
	return v
}

func (v *convolution) places() int { return v.p * v.q }
func (v *convolution) tiles() int  { return (v.places() + max(1, v.tile) - 1) / max(1, v.tile) }

// work is the number of multiplications.
func (v *convolution) work() int { return v.n * v.groups * v.o * v.depth * v.places() }

// scratchConv is the memory of a convolution, one for each goroutine that takes part.
type scratchConv[T Real] struct {
	v       convolution
	columns [][]T
	ws      []kernels.Workspace
	f       func(hand, from, to int)
	out     []T
	in      [][]T
	l       kernels.Level
	slide   *sliding[T]
	sums    *rowSums[T]
	wide    *wide[T] // of filters of small images
}

func newScratchConv[T Real](c *Call, v convolution, f func(s *scratchConv[T], hand, k int)) *scratchConv[T] {
	s := &scratchConv[T]{v: v, l: c.Level, ws: make([]kernels.Workspace, max(1, c.Threads))}
	s.f = func(hand, from, to int) {
		for k := from; k < to; k++ {
			f(s, hand, k)
		}
	}
	return s
}

// makeColumns makes memory for columns of so many channels, of a tile of places.
func (s *scratchConv[T]) makeColumns(channels, places int) {
	rows := channels * s.v.a * s.v.b
	s.v.tile = min(places, max(kernels.GemmColumns, columnBytes/(sizeOf[T]()*max(1, rows))/kernels.GemmColumns*kernels.GemmColumns))
	for range s.ws {
		s.columns = append(s.columns, aligned[T](rows*s.v.tile))
	}
}

// each calls f for parts of n rows with the arrays of this run.
func (s *scratchConv[T]) each(c *Call, n int, out []T, in [][]T) error {
	s.out, s.in = out, in
	if n > 0 {
		c.EachRow(n, s.v.work(), s.f)
	}
	return nil
}

// sizeOf returns the bytes of a number.
func sizeOf[T Real]() int {
	var z T
	if _, wide := any(z).(float64); wide {
		return 8
	}
	return 4
}

// Conv2D is the convolution of images with filters. A goroutine takes strips of images or tiles of places.
func Conv2D[T Real](c *Call, out []T, in [][]T) error {
	s := Scratch(c, func() *scratchConv[T] {
		v := newConvolution(c.Attr, c.InShape[0], c.InShape[1], c.Shape)
		if v.slides() {
			s := newScratchConv(c, v, (*scratchConv[T]).slideStrip)
			s.slide = newSliding[T](&v, len(s.ws))
			return s
		}
		s := newScratchConv(c, v, (*scratchConv[T]).forward)
		s.makeColumns(v.c, v.places())
		return s
	})
	parts := s.v.tiles()
	if s.slide != nil {
		s.slide.filters, s.slide.images, s.slide.results = in[1], in[0], out
		parts = s.slide.strips(&s.v)
	}
	return s.each(c, s.v.n*s.v.groups*parts, out, in)
}

func (s *scratchConv[T]) forward(hand, k int) {
	v := &s.v
	group, first := k/v.tiles(), k%v.tiles()*v.tile
	n := min(v.tile, v.places()-first)
	columns, ld := s.gather(hand, s.in[0], group, 0, v.c, first, n)
	filters := s.in[1][group%v.groups*v.o*v.depth:]
	gemm(s.l, &s.ws[hand], false, false, v.o, n, v.depth, filters, v.depth, columns, ld, 0, s.out[group*v.o*v.places()+first:], v.places())
}

// gather returns the columns of places first..first+n-1 of the image of a group (image groups + group), for channels c0..c1-1: a matrix with a row for each element of a filter. For filters of one element it is the image itself.
func (s *scratchConv[T]) gather(hand int, images []T, group, c0, c1, first, n int) (columns []T, ld int) {
	v := &s.v
	image := images[group*v.c*v.h*v.w:]
	if v.direct {
		return image[c0*v.h*v.w+first:], v.h * v.w
	}
	to := s.columns[hand]
	row := 0
	for c := c0; c < c1; c++ {
		plane := image[c*v.h*v.w : (c+1)*v.h*v.w]
		for a := range v.a {
			for b := range v.b {
				gatherLine(v, to[row:row+n], plane, a, b, first)
				row += n
			}
		}
	}
	return to, n
}

// span returns the places q of a row of results whose element at distance d in the image is inside: q0 <= q < q1.
func (v *convolution) span(d int) (q0, q1 int) {
	// 0 <= q stride + d < w
	if d < 0 {
		q0 = (-d + v.stride[1] - 1) / v.stride[1]
	}
	if d < v.w {
		q1 = min(v.q, (v.w-1-d)/v.stride[1]+1)
	}
	return min(q0, v.q), max(q1, min(q0, v.q))
}

// gatherLine gathers the elements under element a, b of a filter at the places from first on.
func gatherLine[T Real](v *convolution, to, plane []T, a, b, first int) {
	d := b*v.by[1] - v.pad[1]
	q0, q1 := v.span(d)
	for len(to) > 0 {
		p, q := first/v.q, first%v.q
		n := min(len(to), v.q-q)
		line := to[:n]
		to, first = to[n:], first+n
		y := p*v.stride[0] + a*v.by[0] - v.pad[0]
		if y < 0 || y >= v.h {
			clear(line)
			continue
		}
		lo, hi := min(max(q0-q, 0), n), max(min(q1-q, n), 0)
		clear(line[:lo])
		if lo < hi {
			from := plane[y*v.w+(q+lo)*v.stride[1]+d:]
			if v.stride[1] == 1 {
				copy(line[lo:hi], from)
			} else {
				for i, k := lo, 0; i < hi; i, k = i+1, k+v.stride[1] {
					line[i] = from[k]
				}
			}
		}
		clear(line[max(lo, hi):])
	}
}

// ConvImages is the adjoint of Conv2D by the images: it spreads results over them. A goroutine takes images, or strips of them.
func ConvImages[T Real](c *Call, out []T, in [][]T) error {
	if len(out) == 0 {
		return nil
	}
	s := Scratch(c, func() *scratchConv[T] {
		v := newConvolution(c.Attr, c.Shape, c.InShape[1], c.InShape[0])
		if v.direct {
			return newScratchConv(c, v, (*scratchConv[T]).spread)
		}
		u := v.turned()
		s := newScratchConv(c, u, (*scratchConv[T]).slideStrip)
		s.sums = newRowSums[T](c, v, len(s.ws))
		if u.slides() {
			s.slide = newSliding[T](&u, len(s.ws))
			s.slide.filters = aligned[T](len(in[1]))
		}
		return s
	})
	switch {
	case s.sums == nil:
		return s.each(c, s.v.n*s.v.groups, out, in)
	case s.slide == nil || mostlyZero(&s.sums.v, in[0]) && s.sums.finite(in[1]):
		s.sums.convImages(c, out, in)
		return nil
	}
	s.slide.images, s.slide.results = in[0], out
	turnFilters(&s.sums.v, s.slide.filters, in[1])
	return s.each(c, s.v.n*s.v.groups*s.slide.strips(&s.v), out, in)
}

func (s *scratchConv[T]) spread(hand, group int) {
	v := &s.v
	filters, results := s.in[1][group%v.groups*v.o*v.depth:], s.in[0][group*v.o*v.places():]
	gemm(s.l, &s.ws[hand], true, false, v.depth, v.places(), v.o, filters, v.depth, results, v.places(), 0, s.out[group*v.c*v.h*v.w:], v.places())
}

// ConvFilters is the adjoint of Conv2D by the filters: sums over all images and places. A goroutine takes filters, or channels of them.
func ConvFilters[T Real](c *Call, out []T, in [][]T) error {
	if len(out) == 0 {
		return nil
	}
	s := Scratch(c, func() *scratchConv[T] {
		v := newConvolution(c.Attr, c.InShape[0], c.Shape, c.InShape[1])
		s := newScratchConv(c, v, (*scratchConv[T]).filters)
		if !v.direct {
			image := max(1, sizeOf[T]()*v.groups*v.c*v.h*v.w)
			s.sums = newRowSums[T](c, v, v.groups*max(1, min(v.n, arrangedBytes/image)))
		}
		return s
	})
	if s.sums != nil && (s.sums.long() || mostlyZero(&s.v, in[1])) {
		s.sums.convFilters(c, out, in)
		return nil
	}
	if channels, places := min(s.v.c, channelsEach), s.v.places(); s.columns == nil {
		if s.v.widened(channels, sizeOf[T]()) {
			s.wide = newWide[T](c, &s.v, channels)
			places = s.wide.count
		}
		s.makeColumns(channels, places)
	}
	return s.each(c, s.v.groups*s.v.parts(), out, in)
}

// channelsEach is the number of channels whose filters a goroutine does at a time.
const channelsEach = 8

// parts is the number of parts of channels of a group.
func (v *convolution) parts() int { return (v.c + channelsEach - 1) / channelsEach }

func (s *scratchConv[T]) filters(hand, k int) {
	v := &s.v
	group, c0 := k/v.parts(), k%v.parts()*channelsEach
	c1 := min(v.c, c0+channelsEach)
	if s.wide != nil {
		s.filtersWide(hand, group, c0, c1)
		return
	}
	rows, at := (c1-c0)*v.a*v.b, c0*v.a*v.b
	filters := s.out[group*v.o*v.depth:]
	for o := range v.o {
		clear(filters[o*v.depth+at:][:rows])
	}
	for image := range v.n {
		one := image*v.groups + group
		results := s.in[1][one*v.o*v.places():]
		for first := 0; first < v.places(); first += v.tile {
			n := min(v.tile, v.places()-first)
			columns, ld := s.gather(hand, s.in[0], one, c0, c1, first, n)
			gemm(s.l, &s.ws[hand], false, true, v.o, rows, n, results[first:], v.places(), columns, ld, 1, filters[at:], v.depth)
		}
	}
}

// gemm is c = op(a) op(b) + beta c.
func gemm[T Real](l kernels.Level, ws *kernels.Workspace, ta, tb bool, m, n, k int, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	switch c := any(c).(type) {
	case []float64:
		kernels.Gemm64(l, ws, ta, tb, m, n, k, 1, any(a).([]float64), lda, any(b).([]float64), ldb, float64(beta), c, ldc)
	case []float32:
		kernels.Gemm32(l, ws, ta, tb, m, n, k, 1, any(a).([]float32), lda, any(b).([]float32), ldb, float32(beta), c, ldc)
	}
}
