// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

// fftChirp turns a transform of n numbers into a cyclic convolution of size numbers:
//
//	X[k] = c[k] sum over j of (c[j] x[j]) conj c[k-j], c[j] = exp(-pi i j^2/n)
type fftChirp[T float] struct {
	size     int
	inner    *fftAxis[T]
	factor   []T // the chirp c
	spectrum []T // transform of conj c, divided by size
	order    []int
}

func newFFTChirp[T float](k *fftKernels[T], n int) *fftChirp[T] {
	c := chirpOf[T](n)
	c.order, c.inner = identity(n), newFFTAxis(k, c.size)
	return c
}

// chirpOf computes the chirp and its spectrum, in float64 whatever T is.
func chirpOf[T float](n int) *fftChirp[T] {
	c := &fftChirp[T]{size: chirpSize(2*n - 1)}
	conj := make([]float64, 2*c.size)
	for j := range n {
		re, im := root(j*j%(2*n), 2*n)
		c.factor = append(c.factor, T(re), T(im))
		for _, at := range []int{j, (c.size - j) % c.size} {
			conj[2*at], conj[2*at+1] = re, -im
		}
	}
	s := &fftScratch[float64]{}
	if long := newFFTLong(&pureFFT64, c.size); long != nil {
		long.line(s, conj, conj, 0)
	} else {
		newFFTAxis(&pureFFT64, c.size).lines(s, conj, conj, 0, 1, 1, 0)
	}
	for _, v := range conj {
		c.spectrum = append(c.spectrum, T(v/float64(c.size)))
	}
	return c
}

// chirpSize returns the least 2^a times 1, 3, 5, 9 or 15 that is at least n.
func chirpSize(n int) int {
	best := 0
	for _, odd := range []int{1, 3, 5, 9, 15} {
		m := odd
		for m < n {
			m *= 2
		}
		if best == 0 || m < best {
			best = m
		}
	}
	return best
}

// run transforms the numbers in b, in order, into a, and overwrites both.
func (c *fftChirp[T]) run(k *fftKernels[T], a, b, tmp []T) {
	n := len(c.order)
	clear(a[:2*k.lanes*c.size])
	k.scatterProduct(&a[0], &b[0], &c.factor[0], &c.inner.pos[0][0], n)
	c.inner.passes(a, tmp, 0, len(c.inner.radix))
	k.scatterProduct(&b[0], &a[0], &c.spectrum[0], &c.inner.pos[1][0], c.size)
	c.inner.passes(b, tmp, 0, len(c.inner.radix))
	k.scatterProduct(&a[0], &b[0], &c.factor[0], &c.order[0], n)
}
