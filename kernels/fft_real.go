// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

// fftReal transforms rows of n real numbers to their n/2+1 first complex ones, and back. Rows of even length are taken
// as n/2 complex numbers, of odd length as n complex ones.
type fftReal[T float] struct {
	n    int
	axis *fftAxis[T]
	tw   []T   // exp(-2 pi i k/n)/2 for k = 1..n/4
	self []int // the identity permutation of n/2+1 places
}

func newFFTReal[T float](k *fftKernels[T], n int) *fftReal[T] {
	if n%2 == 1 {
		return &fftReal[T]{n: n, axis: newFFTAxis(k, n), self: identity(n/2 + 1)}
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
			k.loadRealRows(s, in, src[i*x.n:], count, x.n, x.axis.pos[0])
			x.axis.run(s)
		} else {
			k.loadRows(s, in, src[i*x.n:], x.n, count, m, x.axis.pos[0])
			x.axis.run(s)
			x.ends(s.a, s.a)
			if m > 1 {
				k.untangle(&s.a[0], &x.tw[0], m)
			}
		}
		k.storeRows(s, dst[i*out:], out, count, s.a, x.n/2+1)
	}
}

// ends computes X[0] and X[m] in dst from Z[0]; all are real.
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
	k, h := x.axis.k, x.n/2
	from, to := s.b, s.a
	if x.axis.chirp != nil { // its run reads s.b
		from, to = s.a, s.b
	}
	for i := lo; i < hi; i += k.lanes {
		count := min(k.lanes, hi-i)
		k.loadRows(s, from, src[i*(2*h+2):], 2*h+2, count, h+1, x.self)
		if x.n%2 == 1 {
			x.whole(to, from)
			x.axis.run(s)
			k.storeRealRows(s, dst[i*x.n:], count, s.a, x.n)
		} else {
			x.joined(to, from)
			x.axis.run(s)
			k.storeRows(s, dst[i*x.n:], x.n, count, s.a, h)
		}
	}
}

// joined computes twice the spectrum of x[2j] + i x[2j+1] and stores it at the places of the inverse
// transform.
func (x *fftReal[T]) joined(to, from []T) {
	v, m := x.axis.k.lanes, x.axis.n
	last := from[2*v*m:]
	for i := range v {
		to[i], to[v+i] = from[i]+last[i], from[i]-last[i]
	}
	if m > 1 {
		x.axis.k.tangle(&to[0], &from[0], &x.tw[0], &x.axis.pos[1][0], m)
	}
}

// whole computes the whole spectrum of odd length and stores it at the places of the inverse
// transform.
func (x *fftReal[T]) whole(to, from []T) {
	v := x.axis.k.lanes
	copy(to[:v], from)
	clear(to[v : 2*v])
	if x.n > 1 {
		x.axis.k.mirror(&to[0], &from[0], &x.axis.pos[1][0], x.n)
	}
}
