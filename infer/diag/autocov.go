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
func Autocov(v []float64) []float64 { return AutocovTo(v, len(v)) }

// AutocovTo returns the first lags of Autocov, which takes less time than all of them.
func AutocovTo(v []float64, lags int) []float64 {
	lags = max(0, min(lags, len(v)))
	k := correlator{n: len(v)}
	return k.extended(nil, [][]float64{deviations(v)}, lags)[:lags]
}

// correlator computes the average autocovariance of chains of n draws.
type correlator struct {
	n   int
	fft *fourier.FFT
	pad []float64
	c   []complex128
}

// mostDirect is the number of lags up to which direct products are faster than a Fourier transform.
const mostDirect = 128

// extended appends to autocov, the average autocovariance of chains at the first lags, those at
// further lags until the given number is known, or those at all lags if a Fourier transform is
// faster. The chains are given by their deviations from their means.
func (k *correlator) extended(autocov []float64, chains [][]float64, lags int) []float64 {
	lags = min(lags, k.n)
	if lags > mostDirect {
		return k.all(chains)
	}
	for lag := len(autocov); lag < lags; lag++ {
		sum := 0.0
		for _, v := range chains {
			sum += floats.Dot(v[:k.n-lag], v[lag:])
		}
		autocov = append(autocov, sum/float64(k.n)/float64(len(chains)))
	}
	return autocov
}

// all returns the average autocovariance at all lags: the Fourier transform of the average power
// spectrum of the chains, which are followed by enough zeros that their ends do not meet.
func (k *correlator) all(chains [][]float64) []float64 {
	if k.fft == nil {
		size := 1 << bits.Len(uint(2*k.n-1))
		k.fft, k.pad, k.c = fourier.NewFFT(size), make([]float64, size), make([]complex128, size/2+1)
	}
	power := make([]complex128, len(k.c))
	for _, v := range chains {
		clear(k.pad[copy(k.pad, v):])
		for i, z := range k.fft.Coefficients(k.c, k.pad) {
			power[i] += complex(real(z)*real(z)+imag(z)*imag(z), 0)
		}
	}
	k.fft.Sequence(k.pad, power)
	out := make([]float64, k.n)
	for i := range out {
		out[i] = k.pad[i] / (float64(len(k.pad)) * float64(k.n) * float64(len(chains)))
	}
	return out
}

// deviations returns the deviations of v from its mean.
func deviations(v []float64) []float64 {
	v = centre(v)
	mean := Mean(v)
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x - mean
	}
	return out
}

// Autocorr returns Autocov divided by its value at lag 0.
func Autocorr(v []float64) []float64 { return AutocorrTo(v, len(v)) }

// AutocorrTo returns the first lags of Autocorr, which takes less time than all of them.
func AutocorrTo(v []float64, lags int) []float64 {
	out := AutocovTo(v, lags)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] /= out[0]
	}
	return out
}
