// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// Autocov returns the biased autocovariance of v at lags 0 to len(v)-1: the sum
// of products of deviations from the mean, divided by len(v) at every lag.
func Autocov(v []float64) []float64 {
	return newCorrelator(len(v), len(v)).autocov(v)
}

// correlator holds the state shared by the autocovariances of equally long chains.
type correlator struct {
	lags int
	fft  *fourier.FFT // transform; nil if direct products of a few lags are faster
	pad  []float64
	c    []complex128
}

// newCorrelator returns a correlator for the first lags of chains of n draws.
func newCorrelator(n, lags int) *correlator {
	if lags <= 128 {
		return &correlator{lags: lags, pad: make([]float64, n)}
	}
	size := 1 << bits.Len(uint(2*n-1))
	return &correlator{lags: lags, fft: fourier.NewFFT(size), pad: make([]float64, size), c: make([]complex128, size/2+1)}
}

func (k *correlator) autocov(v []float64) []float64 {
	v = centre(v)
	mean := Mean(v)
	clear(k.pad)
	for i, x := range v {
		k.pad[i] = x - mean
	}
	out := make([]float64, k.lags)
	if k.fft == nil {
		for lag := range out {
			out[lag] = floats.Dot(k.pad[:len(v)-lag], k.pad[lag:]) / float64(len(v))
		}
		return out
	}
	k.fft.Coefficients(k.c, k.pad)
	for i, z := range k.c {
		k.c[i] = complex(real(z)*real(z)+imag(z)*imag(z), 0)
	}
	k.fft.Sequence(k.pad, k.c)
	for i := range out {
		out[i] = k.pad[i] / (float64(len(k.pad)) * float64(len(v)))
	}
	return out
}

// Autocorr returns Autocov divided by its value at lag 0.
func Autocorr(v []float64) []float64 {
	out := Autocov(v)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] /= out[0]
	}
	return out
}
