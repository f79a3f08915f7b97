// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"math"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Field holds one number per voxel (three for alignments) in one of two precisions: at most one of
// the slices is not nil. If both are nil, the field is zero everywhere.
type Field struct {
	Float32 []float32
	Float64 []float64
}

// newField returns a field of n zeros.
func newField(n int, double bool) Field {
	if double {
		return Field{Float64: make([]float64, n)}
	}
	return Field{Float32: make([]float32, n)}
}

// IsZero reports whether the field has no slice.
func (f Field) IsZero() bool { return f.Float32 == nil && f.Float64 == nil }

// Len returns the number of elements; 0 if IsZero.
func (f Field) Len() int { return len(f.Float32) + len(f.Float64) }

// At returns element i; 0 if IsZero.
func (f Field) At(i int) float64 {
	switch {
	case f.Float64 != nil:
		return f.Float64[i]
	case f.Float32 != nil:
		return float64(f.Float32[i])
	}
	return 0
}

func (f Field) set(i int, v float64) {
	if f.Float64 != nil {
		f.Float64[i] = v
	} else {
		f.Float32[i] = float32(v)
	}
}

// part returns elements from to to-1.
func (f Field) part(from, to int) Field {
	if f.Float64 != nil {
		return Field{Float64: f.Float64[from:to]}
	}
	return Field{Float32: f.Float32[from:to]}
}

// fill reads all elements of an array, which must have as many as the field.
func (f Field) fill(a *hdf5.Array) error {
	if f.Float64 != nil {
		return a.Float64sTo(f.Float64)
	}
	return a.Float32sTo(f.Float32)
}

// copy converts the elements of a field of the same length and the other precision.
func (f Field) copy(from Field) {
	for i := range f.Float32 {
		f.Float32[i] = float32(from.Float64[i])
	}
	for i := range f.Float64 {
		f.Float64[i] = float64(from.Float32[i])
	}
}

// slice returns the slice in use, for a writer.
func (f Field) slice() any {
	if f.Float64 != nil {
		return f.Float64
	}
	return f.Float32
}

// notFinite returns the index of the first NaN or infinity, or -1 if there is none. With single,
// numbers too large for float32 count as infinite.
func (f Field) notFinite(single bool) int {
	for i, v := range f.Float32 {
		if v-v != 0 {
			return i
		}
	}
	for i, v := range f.Float64 {
		if w := float32(v); v-v != 0 || single && w-w != 0 {
			return i
		}
	}
	return -1
}

// whereZero sets elements to zero where the other field is zero.
func (f Field) whereZero(other Field) {
	for i := range f.Float32 {
		if other.Float32[i] == 0 {
			f.Float32[i] = 0
		}
	}
	for i := range f.Float64 {
		if other.Float64[i] == 0 {
			f.Float64[i] = 0
		}
	}
}

// Float64s returns the elements in double precision: the slice itself if it has this precision.
func (f Field) Float64s() []float64 {
	if f.Float32 == nil {
		return f.Float64
	}
	out := make([]float64, len(f.Float32))
	for i, v := range f.Float32 {
		out[i] = float64(v)
	}
	return out
}

// Float32s returns the elements in single precision: the slice itself if it has this precision.
func (f Field) Float32s() []float32 {
	if f.Float64 == nil {
		return f.Float32
	}
	out := make([]float32, len(f.Float64))
	for i, v := range f.Float64 {
		out[i] = float32(v)
	}
	return out
}

func round(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.RoundToEven(v*scale) / scale
}
