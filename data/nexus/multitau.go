// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import "math"

// Multitau is a multi-tau correlation: g2 at delays that grow geometrically.
type Multitau struct {
	Delay []float64 // delays in frames, after Stride and Average
	G2    *Matrix   // values of g2, (delay, bin)
	Err   *Matrix   // standard errors as in the file, (delay, bin); nil if absent

	Partial       []*Matrix // values of g2 from the first PartialFrames frames, (delay, bin); NaN for delays not reached
	PartialErr    []*Matrix
	PartialFrames []float64

	// Cov is the covariance of the points of each bin, row-major (delay, delay). Skew is the correction
	// of each bin for the skewness of its pixels, and Pixels the number of independent pixels from
	// which the covariance was estimated. They are nil if absent. Euryale writes them in addition to
	// what viewers read.
	Cov    [][]float64
	Skew   [][]float64
	Pixels []int

	// Coincidences is the number of pairs of photons in two frames of a pixel that are expected for each of G2 if nothing correlates, (delay, bin);
	// nil if unknown. Euryale writes it in addition to what viewers read.
	Coincidences *Matrix

	Stride  int // step between the raw frames that were used
	Average int // number of these frames that were then summed
}

// frames returns the number of raw frames in one step of Delay.
func (m *Multitau) frames() float64 { return float64(max(m.Stride, 1)) * float64(max(m.Average, 1)) }

// Bin returns g2 and its standard errors, as in the file, against delay. The
// errors are nil if the file has none.
func (m *Multitau) Bin(bin int) (g2, sd []float64) {
	g2 = m.G2.Column(bin - 1)
	if m.Err != nil {
		sd = m.Err.Column(bin - 1)
	}
	return g2, sd
}

// Errors returns the standard errors of g2 of a bin: the square roots of the diagonal of its covariance
// if that is known, and otherwise the errors in the file, which also leave out the effect of the
// normalisation. They are nil if the file has neither.
func (m *Multitau) Errors(bin int) []float64 {
	_, sd := m.Bin(bin)
	if bin > len(m.Cov) {
		return sd
	}
	n, cov := len(m.Delay), m.Cov[bin-1]
	roots := make([]float64, n)
	for i := range roots {
		if roots[i] = math.Sqrt(cov[i*n+i]); !(roots[i] > 0) || math.IsInf(roots[i], 0) {
			return sd
		}
	}
	return roots
}

// smallError is the largest error that is treated as missing.
const smallError = 1e-6

// RepairedErr returns the errors after replacing those of 1e-6 or less, which would dominate a fit,
// with the mean of the larger errors of the same bin, or with 1e-6 if there are none. It also returns
// the number of replacements. NaN stays.
func (m *Multitau) RepairedErr() (sd *Matrix, replaced int) {
	if m.Err == nil {
		return nil, 0
	}
	sd = NewMatrix(m.Err.Rows, m.Err.Cols)
	copy(sd.Data, m.Err.Data)
	for j := range sd.Cols {
		sum, n := 0.0, 0.0
		for i := range sd.Rows {
			if v := sd.At(i, j); v > smallError {
				sum, n = sum+v, n+1
			}
		}
		mean := smallError
		if n > 0 {
			mean = sum / n
		}
		for i := range sd.Rows {
			if sd.At(i, j) <= smallError {
				sd.Set(i, j, mean)
				replaced++
			}
		}
	}
	return sd, replaced
}
