// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// fftScratch is the memory that one goroutine needs: two blocks, scratch for odd passes and long
// lines, and a stage in which blocks of too few lines are filled up.
type fftScratch[T float] struct{ a, b, tmp, long, line, row, stage []T }

func (s *fftScratch[T]) fit(x *fftAxis[T]) {
	size := x.n + 1
	tmp := x.tmp
	if x.chirp != nil {
		size, tmp = x.chirp.size, x.chirp.inner.tmp
	}
	s.a = aligned(s.a, 2*x.k.lanes*size)
	s.b = aligned(s.b, 2*x.k.lanes*size)
	s.tmp = aligned(s.tmp, 2*x.k.lanes*max(tmp, 1))
}

// aligned returns at least n elements that begin with a cache line, keeping s when it is long enough.
func aligned[T float](s []T, n int) []T {
	if len(s) >= n {
		return s
	}
	size := int(unsafe.Sizeof(T(0)))
	s = make([]T, n+64/size)
	for i := range s {
		if uintptr(unsafe.Pointer(&s[i]))%64 == 0 {
			return s[i:]
		}
	}
	return s
}

// lines transforms lines lo to hi-1 along an axis. The array is (outer, n, width); line i is that of index i/width of
// the outer and i%width of the inner axis. dir is 0, or 1 for the inverse. Complex numbers are pairs.
func (x *fftAxis[T]) lines(s *fftScratch[T], dst, src []T, lo, hi, width, dir int) {
	s.fit(x)
	v := x.k.lanes
	for i := lo; i < hi; i += v {
		count := min(v, hi-i)
		switch {
		case width == 1:
			x.rows(s, dst[2*i*x.n:], src[2*i*x.n:], count, dir)
		case count == v && i%width+v <= width:
			at := 2 * (i/width*x.n*width + i%width)
			x.columns(s, dst[at:], src[at:], width, dir)
		default:
			x.staged(s, dst, src, i, count, width, dir)
		}
	}
}

// rows transforms one block of rows.
func (x *fftAxis[T]) rows(s *fftScratch[T], dst, src []T, count, dir int) {
	in := s.a
	if x.chirp != nil {
		in = s.b
	}
	x.k.loadRows(s, in, src, 2*x.n, count, x.n, x.pos[dir])
	x.run(s)
	x.k.storeRows(s, dst, 2*x.n, count, s.a, x.n)
}

// run transforms a loaded block and leaves the result in s.a.
func (x *fftAxis[T]) run(s *fftScratch[T]) {
	if x.chirp != nil {
		x.chirp.run(x.k, s.a, s.b, s.tmp)
		return
	}
	x.passes(s.a, s.tmp, 0, len(x.radix))
}

// columns transforms a full block of neighbouring columns, width to a row.
func (x *fftAxis[T]) columns(s *fftScratch[T], dst, src []T, width, dir int) {
	stride := 2 * width * int(unsafe.Sizeof(T(0)))
	if x.chirp != nil {
		x.k.linesIn(&s.b[0], &src[0], stride, &x.pos[dir][0], x.n)
		x.run(s)
		x.k.linesOut(&dst[0], stride, &s.a[0], x.n)
		return
	}
	x.columnsOut(s, dst, stride, x.columnsIn(s, src, stride, dir))
}

// columnsIn loads columns, fusing the first pass with the load if there is a kernel for that, and
// returns the number of passes done.
func (x *fftAxis[T]) columnsIn(s *fftScratch[T], src []T, stride, dir int) int {
	if len(x.radix) > 0 && !x.isOdd(x.radix[0]) {
		if r := x.radix[0]; x.k.from[r] != nil {
			x.k.from[r](&s.a[0], &src[0], stride, &x.starts[dir][0], x.n/r*(1-2*dir), x.n)
			return 1
		}
	}
	x.k.linesIn(&s.a[0], &src[0], stride, &x.pos[dir][0], x.n)
	return 0
}

// columnsOut does the remaining passes and stores the columns, fusing the last pass with the store
// if there is a kernel for that.
func (x *fftAxis[T]) columnsOut(s *fftScratch[T], dst []T, stride, done int) {
	last := len(x.radix) - 1
	if last > 0 && !x.isOdd(x.radix[last]) {
		if r := x.radix[last]; x.k.to[r] != nil {
			x.passes(s.a, s.tmp, done, last)
			x.k.to[r](&dst[0], stride, &s.a[0], &x.tw[last][0], x.n/r)
			return
		}
	}
	x.passes(s.a, s.tmp, done, last+1)
	x.k.linesOut(&dst[0], stride, &s.a[0], x.n)
}

// staged transforms columns that do not fill a block or that span two planes.
func (x *fftAxis[T]) staged(s *fftScratch[T], dst, src []T, first, count, width, dir int) {
	in, pitch := s.a, 2*x.k.lanes
	if x.chirp != nil {
		in = s.b
	}
	stride := pitch * int(unsafe.Sizeof(T(0)))
	s.stage = aligned(s.stage, pitch*x.n)
	clear(s.stage[:pitch*x.n])
	x.eachRun(first, count, width, func(line, at, n int) {
		for j := range x.n {
			copy(s.stage[j*pitch+line:][:n], src[at+2*j*width:])
		}
	})
	x.k.linesIn(&in[0], &s.stage[0], stride, &x.pos[dir][0], x.n)
	x.run(s)
	x.k.linesOut(&s.stage[0], stride, &s.a[0], x.n)
	x.eachRun(first, count, width, func(line, at, n int) {
		for j := range x.n {
			copy(dst[at+2*j*width:][:n], s.stage[j*pitch+line:])
		}
	})
}

// eachRun calls f for each run of neighbouring lines: where it begins in a block and in the array, and its length.
func (x *fftAxis[T]) eachRun(first, count, width int, f func(line, at, n int)) {
	for i := first; i < first+count; {
		run := min(first+count-i, width-i%width)
		f(2*(i-first), 2*(i/width*x.n*width+i%width), 2*run)
		i += run
	}
}
