// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"fmt"
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// Smooth returns the moving average of y over window samples, of which every step-th is kept, and
// the sample at which each window ends. As in the viewers of these files, the first window begins
// at sample 1; with a window of 1 the samples are as they are.
func Smooth(y []float64, window, step int) (at []int, mean []float64, err error) {
	if window < 1 || step < 1 || window >= len(y) && window > 1 {
		return nil, nil, fmt.Errorf("reduce: the window is %d and the step %d for %s: want positive numbers, and a window smaller than the number of samples", window, step, errtext.Count(len(y), "sample"))
	}
	if window == 1 {
		for i := 0; i < len(y); i += step {
			at, mean = append(at, i), append(mean, y[i])
		}
		return at, mean, nil
	}
	sum := make([]float64, len(y))
	for i, v := range y {
		if sum[i] = v; i > 0 {
			sum[i] += sum[i-1]
		}
	}
	for i := 0; i+window < len(y); i += step {
		at, mean = append(at, i+window), append(mean, (sum[i+window]-sum[i])/float64(window))
	}
	return at, mean, nil
}

// Spectrum returns the moduli of the Fourier transform of samples that are t0 (s) apart, without
// the mean, at frequencies (Hz) below half the sampling rate. A line in it is a vibration, or a
// pulsation of the source.
func Spectrum(y []float64, t0 float64) (frequency, amplitude []float64, err error) {
	if len(y) < 2 || !(t0 > 0) {
		return nil, nil, fmt.Errorf("reduce: there are %d samples %g s apart: want at least 2, and a positive time", len(y), t0)
	}
	c := fourier.NewFFT(len(y)).Coefficients(nil, y)
	for i := range len(y) / 2 {
		frequency = append(frequency, float64(i)/(float64(len(y))*t0))
		amplitude = append(amplitude, cmplx.Abs(c[i]))
	}
	amplitude[0] = 0
	return frequency, amplitude, nil
}

// Lines returns the indices of the peaks of a spectrum that stand out: maxima above cut times the median.
func Lines(amplitude []float64, cut float64) (peaks []int) {
	if len(amplitude) < 3 {
		return nil
	}
	level := cut * middle(amplitude[1:])
	for i := 1; i < len(amplitude); i++ {
		v := amplitude[i]
		if v > level && v >= amplitude[i-1] && (i+1 == len(amplitude) || v > amplitude[i+1]) && !math.IsNaN(v) {
			peaks = append(peaks, i)
		}
	}
	return peaks
}
