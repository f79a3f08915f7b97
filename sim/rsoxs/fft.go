// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math"
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

// pairSums adds to c and to s the rows of x, which begin at at, with two weights for each row.
func pairSums[T float](c, s, x []T, at []int, weights []T) {
	switch x := any(x).(type) {
	case []float64:
		kernels.PairSums64(any(c).([]float64), any(s).([]float64), x, at, any(weights).([]float64))
	case []float32:
		kernels.PairSums32(any(c).([]float32), any(s).([]float32), x, at, any(weights).([]float32))
	}
}

// spreadPair is the transpose of pairSums.
func spreadPair[T float](x, c, s []T, at []int, weights []T) {
	switch x := any(x).(type) {
	case []float64:
		kernels.SpreadPair64(x, any(c).([]float64), any(s).([]float64), at, any(weights).([]float64))
	case []float32:
		kernels.SpreadPair32(x, any(c).([]float32), any(s).([]float32), at, any(weights).([]float32))
	}
}

// addScaled adds a x to dst.
func addScaled[T float](dst, x []T, a T) {
	switch x := any(x).(type) {
	case []float64:
		kernels.AddScaled64(any(dst).([]float64), x, float64(a))
	case []float32:
		kernels.AddScaled32(any(dst).([]float32), x, float32(a))
	}
}

var (
	inner64    = kernels.Dot64(kernels.Best())
	inner32    = kernels.Dot32(kernels.Best())
	least64    = kernels.Reduce64(kernels.Best(), "min")
	least32    = kernels.Reduce32(kernels.Best(), "min")
	most64     = kernels.Reduce64(kernels.Best(), "max")
	most32     = kernels.Reduce32(kernels.Best(), "max")
	product64  = kernels.Binary64(kernels.Best(), "mul")
	product32  = kernels.Binary32(kernels.Best(), "mul")
	minus64    = kernels.Binary64(kernels.Best(), "sub")
	minus32    = kernels.Binary32(kernels.Best(), "sub")
	multiple64 = kernels.Binary64(kernels.Best(), "mul_s")
	multiple32 = kernels.Binary32(kernels.Best(), "mul_s")
	fused64    = kernels.Ternary64(kernels.Best(), "fma")
	fused32    = kernels.Ternary32(kernels.Best(), "fma")
	scaled64   = kernels.Ternary64(kernels.Best(), "fma_s")
	scaled32   = kernels.Ternary32(kernels.Best(), "fma_s")
)

// subtract sets dst to a - b; all have the same length.
func subtract[T float](dst, a, b []T) {
	switch dst := any(dst).(type) {
	case []float64:
		minus64(&dst[0], &any(a).([]float64)[0], &any(b).([]float64)[0], len(dst))
	case []float32:
		minus32(&dst[0], &any(a).([]float32)[0], &any(b).([]float32)[0], len(dst))
	}
}

// addProduct sets dst to a b + c, rounded once; all have the same length.
func addProduct[T float](dst, a, b, c []T) {
	switch dst := any(dst).(type) {
	case []float64:
		fused64(&dst[0], &any(a).([]float64)[0], &any(b).([]float64)[0], &any(c).([]float64)[0], len(dst))
	case []float32:
		fused32(&dst[0], &any(a).([]float32)[0], &any(b).([]float32)[0], &any(c).([]float32)[0], len(dst))
	}
}

// addMultiple sets dst to f a + c, rounded once; all have the same length.
func addMultiple[T float](dst, a []T, f T, c []T) {
	switch dst := any(dst).(type) {
	case []float64:
		f := float64(f)
		scaled64(&dst[0], &any(a).([]float64)[0], &f, &any(c).([]float64)[0], len(dst))
	case []float32:
		f := float32(f)
		scaled32(&dst[0], &any(a).([]float32)[0], &f, &any(c).([]float32)[0], len(dst))
	}
}

// multiple sets dst to f a, of the same length.
func multiple[T float](dst, a []T, f T) {
	switch dst := any(dst).(type) {
	case []float64:
		f := float64(f)
		multiple64(&dst[0], &any(a).([]float64)[0], &f, len(dst))
	case []float32:
		f := float32(f)
		multiple32(&dst[0], &any(a).([]float32)[0], &f, len(dst))
	}
}

// product sets dst to the products of the elements of a and b, which have its length.
func product[T float](dst, a, b []T) {
	switch dst := any(dst).(type) {
	case []float64:
		product64(&dst[0], &any(a).([]float64)[0], &any(b).([]float64)[0], len(dst))
	case []float32:
		product32(&dst[0], &any(a).([]float32)[0], &any(b).([]float32)[0], len(dst))
	}
}

// sumOfProducts returns the inner product of a and b, which have the same length.
func sumOfProducts[T float](a, b []T) float64 {
	switch a := any(a).(type) {
	case []float64:
		return inner64(&a[0], &any(b).([]float64)[0], len(a))
	case []float32:
		return inner32(&a[0], &any(b).([]float32)[0], len(a))
	}
	return 0
}

// leastOf returns the smallest element of v, or NaN if an element is.
func leastOf[T float](v []T) float64 {
	switch v := any(v).(type) {
	case []float64:
		return least64(&v[0], len(v))
	case []float32:
		return least32(&v[0], len(v))
	}
	return 0
}

// numeric reports whether no element of v is NaN.
func numeric[T float](v []T) bool { return !math.IsNaN(leastOf(v)) }

// mostOf returns the largest element of v, or NaN if an element is.
func mostOf[T float](v []T) float64 {
	switch v := any(v).(type) {
	case []float64:
		return most64(&v[0], len(v))
	case []float32:
		return most32(&v[0], len(v))
	}
	return 0
}

// uniform reports whether all elements of v, which has some, are equal to its first.
func uniform[T float](v []T) bool {
	for ; len(v) > trigBlock; v = v[trigBlock:] {
		if x := float64(v[trigBlock]); leastOf(v[:trigBlock]) != x || mostOf(v[:trigBlock]) != x {
			return false
		}
	}
	x := float64(v[0])
	return leastOf(v) == x && mostOf(v) == x
}
