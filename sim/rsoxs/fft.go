// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"unsafe"

	"github.com/euryale-dev/euryale/kernels"
)

// transformer transforms slices of ny x nx real numbers to their half spectra and
// back, without normalisation. Complex numbers are pairs.
type transformer[T float] struct {
	plan *kernels.FFT
	work kernels.FFTWorkspace
}

func newTransformer[T float](ny, nx int) *transformer[T] {
	return &transformer[T]{plan: kernels.NewFFT(ny, nx)}
}

func (t *transformer[T]) forward(dst, src []T) {
	switch src := any(src).(type) {
	case []float64:
		t.plan.Real64(pairs[complex128](any(dst).([]float64)), src, &t.work)
	case []float32:
		t.plan.Real32(pairs[complex64](any(dst).([]float32)), src, &t.work)
	}
}

// inverse returns the sum over the whole spectrum, half of which is src.
func (t *transformer[T]) inverse(dst, src []T) {
	switch dst := any(dst).(type) {
	case []float64:
		t.plan.RealInverse64(dst, pairs[complex128](any(src).([]float64)), &t.work)
	case []float32:
		t.plan.RealInverse32(dst, pairs[complex64](any(src).([]float32)), &t.work)
	}
}

// pairs reinterprets pairs of numbers as complex numbers.
func pairs[C complex64 | complex128, T float](v []T) []C {
	return unsafe.Slice((*C)(unsafe.Pointer(unsafe.SliceData(v))), len(v)/2)
}

func sinCos[T float](s, c, x []T) {
	switch x := any(x).(type) {
	case []float64:
		kernels.SinCos64(any(s).([]float64), any(c).([]float64), x)
	case []float32:
		kernels.SinCos32(any(s).([]float32), any(c).([]float32), x)
	}
}

// addPair adds a x to c and b x to s.
func addPair[T float](c, s, x []T, a, b T) {
	switch x := any(x).(type) {
	case []float64:
		kernels.AddScaledPair64(any(c).([]float64), any(s).([]float64), x, float64(a), float64(b))
	case []float32:
		kernels.AddScaledPair32(any(c).([]float32), any(s).([]float32), x, float32(a), float32(b))
	}
}

// pairSum adds a c + b s to dst.
func pairSum[T float](dst, c, s []T, a, b T) {
	switch dst := any(dst).(type) {
	case []float64:
		kernels.ScaledPairSum64(dst, any(c).([]float64), any(s).([]float64), float64(a), float64(b))
	case []float32:
		kernels.ScaledPairSum32(dst, any(c).([]float32), any(s).([]float32), float32(a), float32(b))
	}
}
