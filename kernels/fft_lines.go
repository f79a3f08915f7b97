package kernels

import "unsafe"

// fftScratch is what one goroutine needs: two blocks, the room of odd passes and long lines.
type fftScratch[T float] struct{ a, b, tmp, long, line, row []T }

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
		case count == v && width == 1:
			x.rows(s, dst[2*i*x.n:], src[2*i*x.n:], dir)
		case count == v && i%width+v <= width:
			at := 2 * (i/width*x.n*width + i%width)
			x.columns(s, dst[at:], src[at:], width, dir)
		default:
			x.scattered(s, dst, src, i, count, width, dir)
		}
	}
}

// rows transforms a full block of rows.
func (x *fftAxis[T]) rows(s *fftScratch[T], dst, src []T, dir int) {
	in := s.a
	if x.chirp != nil {
		in = s.b
	}
	x.k.loadRows(in, src, 2*x.n, x.k.lanes, x.n, x.pos[dir])
	x.run(s)
	x.k.storeRows(dst, 2*x.n, x.k.lanes, s.a, x.n)
}

// run brings a loaded block into s.a.
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

// columnsIn loads columns, with the first pass if there is a kernel for both, and returns the number of passes done.
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

// columnsOut does the passes that are left and stores columns, with the last pass if there is a kernel for both.
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

// scattered transforms any lines, one number at a time in and out.
func (x *fftAxis[T]) scattered(s *fftScratch[T], dst, src []T, first, count, width, dir int) {
	in, v := s.a, x.k.lanes
	if x.chirp != nil {
		in = s.b
	}
	clear(in[:2*v*x.n])
	for lane, line := range x.k.line {
		if line >= count {
			continue
		}
		i := first + line
		at := 2 * (i/width*x.n*width + i%width)
		for _, p := range x.pos[dir] {
			in[2*v*p+lane], in[2*v*p+v+lane] = src[at], src[at+1]
			at += 2 * width
		}
	}
	x.run(s)
	for lane, line := range x.k.line {
		if line >= count {
			continue
		}
		i := first + line
		at := 2 * (i/width*x.n*width + i%width)
		for p := range x.n {
			dst[at], dst[at+1] = s.a[2*v*p+lane], s.a[2*v*p+v+lane]
			at += 2 * width
		}
	}
}

// loadRows copies rows of n complex numbers, length elements apart, to places of a block.
func (k *fftKernels[T]) loadRows(w, src []T, length, count, n int, pos []int) {
	v, size := k.lanes, int(unsafe.Sizeof(T(0)))
	done := 0
	if count == v {
		piece := 16 / size / 2
		if pieces := n / piece; pieces > 0 {
			k.rowsIn(&w[0], &src[0], length*size, &pos[0], pieces)
			done = pieces * piece
		}
	} else {
		clear(w[:2*v*n])
	}
	for lane, line := range k.line {
		if line >= count {
			continue
		}
		for j := done; j < n; j++ {
			at := line*length + 2*j
			w[2*v*pos[j]+lane], w[2*v*pos[j]+v+lane] = src[at], src[at+1]
		}
	}
}

// storeRows copies n elements of a block to rows, length elements apart.
func (k *fftKernels[T]) storeRows(dst []T, length, count int, w []T, n int) {
	v, size := k.lanes, int(unsafe.Sizeof(T(0)))
	done := 0
	if count == v {
		piece := 16 / size / 2
		if pieces := n / piece; pieces > 0 {
			k.rowsOut(&dst[0], length*size, &w[0], pieces)
			done = pieces * piece
		}
	}
	for lane, line := range k.line {
		if line >= count {
			continue
		}
		for j := done; j < n; j++ {
			at := line*length + 2*j
			dst[at], dst[at+1] = w[2*v*j+lane], w[2*v*j+v+lane]
		}
	}
}
