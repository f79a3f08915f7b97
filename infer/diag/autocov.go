package diag

import (
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Autocov returns the biased autocovariance of v at lags 0 to len(v)-1: the sum
// of products of deviations from the mean, divided by len(v) at every lag.
func Autocov(v []float64) []float64 {
	return newCorrelator(len(v)).autocov(v)
}

// correlator holds what the autocovariances of equally long chains share.
type correlator struct {
	fft *fourier.FFT // nil for short chains
	pad []float64
	c   []complex128
}

func newCorrelator(n int) *correlator {
	if n <= 32 {
		return &correlator{}
	}
	size := 1 << bits.Len(uint(2*n-1))
	return &correlator{fft: fourier.NewFFT(size), pad: make([]float64, size), c: make([]complex128, size/2+1)}
}

func (k *correlator) autocov(v []float64) []float64 {
	v = centre(v)
	mean := Mean(v)
	if k.fft == nil {
		return autocovDirect(v, mean)
	}
	clear(k.pad)
	for i, x := range v {
		k.pad[i] = x - mean
	}
	k.fft.Coefficients(k.c, k.pad)
	for i, z := range k.c {
		k.c[i] = complex(real(z)*real(z)+imag(z)*imag(z), 0)
	}
	k.fft.Sequence(k.pad, k.c)
	out := make([]float64, len(v))
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

func autocovDirect(v []float64, mean float64) []float64 {
	out := make([]float64, len(v))
	for lag := range out {
		s := 0.0
		for i := range len(v) - lag {
			s += (v[i] - mean) * (v[i+lag] - mean)
		}
		out[lag] = s / float64(len(v))
	}
	return out
}
