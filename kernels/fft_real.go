package kernels

// fftReal transforms rows of n real numbers to their n/2+1 first complex ones, and back. Rows of even length are taken
// as n/2 complex numbers, of odd length as n complex ones.
type fftReal[T float] struct {
	n    int
	axis *fftAxis[T]
	tw   []T   // exp(-2 pi i k/n)/2 for k = 1..n/4
	self []int // places of numbers read in order
}

func newFFTReal[T float](k *fftKernels[T], n int) *fftReal[T] {
	if n%2 == 1 {
		return &fftReal[T]{n: n, axis: newFFTAxis(k, n)}
	}
	return &fftReal[T]{n: n, axis: newFFTAxis(k, n/2), self: identity(n/2 + 1), tw: halfRoots[T](n)}
}

// forward transforms rows lo to hi-1 of src into rows of dst.
func (x *fftReal[T]) forward(s *fftScratch[T], dst, src []T, lo, hi int) {
	s.fit(x.axis)
	k, m := x.axis.k, x.axis.n
	in := s.a
	if x.axis.chirp != nil {
		in = s.b
	}
	out := x.n/2*2 + 2
	for i := lo; i < hi; i += k.lanes {
		count := min(k.lanes, hi-i)
		if x.n%2 == 1 {
			x.loadReal(in, src[i*x.n:], count)
			x.axis.run(s)
		} else {
			k.loadRows(in, src[i*x.n:], x.n, count, m, x.axis.pos[0])
			x.axis.run(s)
			x.ends(s.a, s.a)
			if m > 1 {
				k.untangle(&s.a[0], &x.tw[0], m)
			}
		}
		k.storeRows(dst[i*out:], out, count, s.a, x.n/2+1)
	}
}

// ends makes X[0] and X[m] in dst from Z[0], all real.
func (x *fftReal[T]) ends(dst, z []T) {
	v := x.axis.k.lanes
	last := dst[2*v*x.axis.n:][:2*v]
	for i := range v {
		re, im := z[i], z[v+i]
		dst[i], dst[v+i] = re+im, 0
		last[i], last[v+i] = re-im, 0
	}
}

// inverse transforms rows lo to hi-1 of src, half spectra, into rows of dst.
func (x *fftReal[T]) inverse(s *fftScratch[T], dst, src []T, lo, hi int) {
	s.fit(x.axis)
	k, m := x.axis.k, x.axis.n
	in := x.n/2*2 + 2
	for i := lo; i < hi; i += k.lanes {
		count := min(k.lanes, hi-i)
		if x.n%2 == 1 {
			x.loadHermitian(s, src[i*in:], count)
			x.axis.run(s)
			x.storeReal(dst[i*x.n:], count, s.a)
			continue
		}
		k.loadRows(s.b, src[i*in:], in, count, m+1, x.self)
		v := 2 * k.lanes
		first, last := s.b[:v], s.b[v*m:v*m+v]
		place := s.a
		if x.axis.chirp != nil { // its run reads s.b
			copy(s.a, s.b[:v*(m+1)])
			first, last, place = s.a[:v], s.a[v*m:v*m+v], s.b
		}
		for i := range k.lanes {
			p, q := first[i], last[i]
			place[i], place[k.lanes+i] = p+q, p-q
		}
		if m > 1 {
			from := &first[0]
			k.tangle(&place[0], from, &x.tw[0], &x.axis.pos[1][0], m)
		}
		x.axis.run(s)
		k.storeRows(dst[i*x.n:], x.n, count, s.a, m)
	}
}

// loadReal copies real rows of odd length to places of a block.
func (x *fftReal[T]) loadReal(w, src []T, count int) {
	v := x.axis.k.lanes
	clear(w[:2*v*x.n])
	for lane, line := range x.axis.k.line {
		if line >= count {
			continue
		}
		for j, u := range src[line*x.n : (line+1)*x.n] {
			w[2*v*x.axis.pos[0][j]+lane] = u
		}
	}
}

// loadHermitian copies half spectra of odd length, and their mirror images.
func (x *fftReal[T]) loadHermitian(s *fftScratch[T], src []T, count int) {
	v, pos, w := x.axis.k.lanes, x.axis.pos[1], s.a
	if x.axis.chirp != nil {
		w = s.b
	}
	clear(w[:2*v*x.n])
	for lane, line := range x.axis.k.line {
		if line >= count {
			continue
		}
		row := src[line*(x.n+1):]
		w[2*v*pos[0]+lane] = row[0]
		for j := 1; j <= x.n/2; j++ {
			p, q := 2*v*pos[j]+lane, 2*v*pos[x.n-j]+lane
			w[p], w[p+v] = row[2*j], row[2*j+1]
			w[q], w[q+v] = row[2*j], -row[2*j+1]
		}
	}
}

func (x *fftReal[T]) storeReal(dst []T, count int, w []T) {
	v := x.axis.k.lanes
	for lane, line := range x.axis.k.line {
		if line >= count {
			continue
		}
		row := dst[line*x.n : (line+1)*x.n]
		for j := range row {
			row[j] = w[2*v*j+lane]
		}
	}
}
