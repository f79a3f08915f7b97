// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

// fftLongReal transforms one long line of real numbers to its n/2+1 first complex ones, and back.
type fftLongReal[T float] struct {
	n    int
	long *fftLong[T] // transform of n/2 complex numbers, or of n if n is odd
	tw   []T         // exp(-2 pi i k/n)/2 for k = 1..n/4
}

func newFFTLongReal[T float](k *fftKernels[T], n int) *fftLongReal[T] {
	x := &fftLongReal[T]{n: n}
	if n%2 == 1 {
		x.long = newFFTLong(k, n)
	} else {
		x.long = newFFTLong(k, n/2)
		x.tw = halfRoots[T](n)
	}
	if x.long == nil {
		return nil
	}
	return x
}

// halfRoots returns exp(-2 pi i k/n)/2 for k = 1..n/4.
func halfRoots[T float](n int) []T {
	var tw []T
	for i := 1; i <= n/4; i++ {
		re, im := root(i, n)
		tw = append(tw, T(re/2), T(im/2))
	}
	return tw
}

// forward transforms a row of src into a half spectrum.
func (x *fftLongReal[T]) forward(s *fftScratch[T], dst, src []T) {
	if x.n%2 == 1 {
		w := x.whole(s)
		for j, v := range src[:x.n] {
			w[2*j], w[2*j+1] = v, 0
		}
		x.long.line(s, w, w, 0)
		copy(dst[:x.n+1], w)
		return
	}
	m := x.n / 2
	x.long.line(s, dst[:x.n], src[:x.n], 0)
	re, im := dst[0], dst[1]
	dst[0], dst[1], dst[2*m], dst[2*m+1] = re+im, 0, re-im, 0
	for k := 1; k <= m/2; k++ {
		a, b, c, w := dst[2*k:2*k+2], dst[2*(m-k):2*(m-k)+2], x.tw[2*k-2], x.tw[2*k-1]
		er, ei := (a[0]+b[0])/2, (a[1]-b[1])/2
		or, oi := times(a[1]+b[1], b[0]-a[0], c, w)
		a[0], a[1], b[0], b[1] = er+or, ei+oi, er-or, oi-ei
	}
}

// inverse transforms a half spectrum into a row of dst.
func (x *fftLongReal[T]) inverse(s *fftScratch[T], dst, src []T) {
	w := x.whole(s)
	if x.n%2 == 1 {
		w[0], w[1] = src[0], 0
		for j := 2; j < x.n; j += 2 {
			re, im := src[j], src[j+1]
			w[j], w[j+1] = re, im
			w[2*x.n-j], w[2*x.n-j+1] = re, -im
		}
		x.long.line(s, w, w, 1)
		for j := range dst[:x.n] {
			dst[j] = w[2*j]
		}
		return
	}
	m := x.n / 2
	w[0], w[1] = src[0]+src[2*m], src[0]-src[2*m]
	for k := 1; k <= m/2; k++ {
		a, b, c, v := src[2*k:2*k+2], src[2*(m-k):2*(m-k)+2], 2*x.tw[2*k-2], 2*x.tw[2*k-1]
		er, ei := a[0]+b[0], a[1]-b[1]
		dr, di := a[0]-b[0], a[1]+b[1]
		fr, fi := dr*v-di*c, dr*c+di*v
		w[2*k], w[2*k+1] = er+fr, ei+fi
		w[2*(m-k)], w[2*(m-k)+1] = er-fr, fi-ei
	}
	x.long.line(s, dst[:x.n], w, 1)
}

// whole returns scratch memory for n complex numbers that the transform of the line does not use.
func (x *fftLongReal[T]) whole(s *fftScratch[T]) []T {
	s.row = aligned(s.row, 2*x.n)
	return s.row[:2*x.n]
}
