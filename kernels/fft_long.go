// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// fftLong transforms one long line as a matrix of n1 rows and n2 columns (six steps, doi:10.1007/BF00162341):
//
//	X[k1 + n1 k2] = sum over j2 of w(n2)^(j2 k2) w(n)^(j2 k1) sum over j1 of w(n1)^(j1 k1) x[j1 n2 + j2], w(n) = exp(-2 pi i/n)
//
// Where n does not factor so, it is a convolution of such a length.
type fftLong[T float] struct {
	k               *fftKernels[T]
	n, n1, n2       int
	first, second   *fftAxis[T]
	factors         []T // w(n)^(j2 k1), by blocks of columns
	inner           *fftLong[T]
	chirp, spectrum []T
}

// newFFTLong returns nil for lengths that gain nothing from this transform.
func newFFTLong[T float](k *fftKernels[T], n int) *fftLong[T] {
	if n < k.lanes*k.lanes {
		return nil
	}
	x := &fftLong[T]{k: k, n: n}
	if _, rest := fftRadices(n); rest > 1 {
		c := chirpOf[float64](n)
		if x.inner = newFFTLong(k, c.size); x.inner == nil {
			return nil
		}
		for _, v := range c.factor {
			x.chirp = append(x.chirp, T(v))
		}
		for _, v := range c.spectrum {
			x.spectrum = append(x.spectrum, T(v))
		}
		return x
	}
	if x.n1, x.n2 = splitLength(n, k.lanes); x.n1 == 0 {
		return nil
	}
	x.first, x.second = newFFTAxis(k, x.n1), newFFTAxis(k, x.n2)
	for at := 0; at < x.n2; at += k.lanes {
		at := min(at, x.n2-k.lanes)
		for k1 := range x.n1 {
			block := make([]T, 2*k.lanes)
			for lane, line := range k.line {
				re, im := root((at+line)*k1, n)
				block[lane], block[k.lanes+lane] = T(re), T(im)
			}
			x.factors = append(x.factors, block...)
		}
	}
	return x
}

// splitLength returns the two factors of n that waste the fewest lanes and, among those, are nearest
// to each other; both are at least lanes. It returns 0 if no such split is worth it.
func splitLength(n, lanes int) (n1, n2 int) {
	best := lanes * n // of one line alone in a block
	for a := lanes; a*lanes <= n; a++ {
		if n%a != 0 {
			continue
		}
		b := n / a
		cost := ((b+lanes-1)/lanes*a + (a+lanes-1)/lanes*b) * lanes // twice n, if all lanes are full
		cost += max(a, b)                                           // a tie-break, and small blocks stay in the cache
		if cost < best {
			best, n1, n2 = cost, a, b
		}
	}
	return n1, n2
}

// line transforms src into dst, which may be src.
func (x *fftLong[T]) line(s *fftScratch[T], dst, src []T, dir int) {
	if x.inner != nil {
		x.convolve(s, dst, src, dir)
		return
	}
	s.fit(x.first)
	s.fit(x.second)
	v, size := x.k.lanes, 2*int(unsafe.Sizeof(T(0)))
	pitch := x.n2 + v // rows of a power of two would all fall on the same places of the cache
	s.long = aligned(s.long, 2*x.n1*pitch)
	out := x.k.linesOutTimes
	if dir == 1 {
		out = x.k.linesOutOver
	}
	factors := x.factors
	for at := 0; at < x.n2; at += v {
		at := 2 * min(at, x.n2-v)
		done := x.first.columnsIn(s, src[at:], x.n2*size, dir)
		x.first.passes(s.a, s.tmp, done, len(x.first.radix))
		out(&s.long[at], pitch*size, &s.a[0], &factors[0], x.n1)
		factors = factors[2*v*x.n1:]
	}
	for at := 0; at < x.n1; at += v {
		at := min(at, x.n1-v)
		x.k.loadRows(s, s.a, s.long[2*at*pitch:], 2*pitch, v, x.n2, x.second.pos[dir])
		x.second.columnsOut(s, dst[2*at:], x.n1*size, 0)
	}
}

// convolve computes the transform as a convolution with the chirp.
func (x *fftLong[T]) convolve(s *fftScratch[T], dst, src []T, dir int) {
	size := x.inner.n
	s.line = aligned(s.line, 2*size)
	w := s.line[:2*size]
	for j := range x.n {
		from := j
		if dir == 1 {
			from = (x.n - j) % x.n
		}
		w[2*j], w[2*j+1] = times(src[2*from], src[2*from+1], x.chirp[2*j], x.chirp[2*j+1])
	}
	clear(w[2*x.n:])
	x.inner.line(s, w, w, 0)
	for j := 0; j < len(w); j += 2 {
		w[j], w[j+1] = times(w[j], w[j+1], x.spectrum[j], x.spectrum[j+1])
	}
	x.inner.line(s, w, w, 1)
	for j := 0; j < 2*x.n; j += 2 {
		dst[j], dst[j+1] = times(w[j], w[j+1], x.chirp[j], x.chirp[j+1])
	}
}

func times[T float](a, b, c, d T) (re, im T) { return a*c - b*d, a*d + b*c }
