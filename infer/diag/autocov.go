package diag

import (
	"math/bits"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Autocov returns the biased autocovariance of v at lags 0 to len(v)-1: the sum
// of products of deviations from the mean, divided by len(v) at every lag.
func Autocov(v []float64) []float64 {
	n := len(v)
	if n == 0 {
		return nil
	}
	v = centre(v)
	mean := Mean(v)
	if n <= 32 {
		return autocovDirect(v, mean)
	}
	size := 1 << bits.Len(uint(2*n-1))
	pad := make([]float64, size)
	for i, x := range v {
		pad[i] = x - mean
	}
	fft := fourier.NewFFT(size)
	c := fft.Coefficients(nil, pad)
	for i, z := range c {
		c[i] = complex(real(z)*real(z)+imag(z)*imag(z), 0)
	}
	out := fft.Sequence(pad, c)[:n]
	for i := range out {
		out[i] /= float64(size) * float64(n)
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
