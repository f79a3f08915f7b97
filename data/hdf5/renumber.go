// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"encoding/binary"
	"math"
)

// renumber converts numbers of type from to plain numbers of type to, as the HDF5 library does:
// values out of range become the nearest number in range, fractions are truncated, and NaN becomes
// 0.
func renumber(dst []byte, to *Type, src []byte, from *Type) error {
	n := len(dst) / to.Size
	put := putter(dst, to)
	if from.Class == Float {
		v := make([]float64, n)
		if err := convert(v, src, from); err != nil {
			return err
		}
		for i, x := range v {
			put(i, ofFloat(x, to))
		}
		return nil
	}
	signed := from.Signed || from.Class == Enum && from.Base.Signed
	if signed {
		v := make([]int64, n)
		if err := convert(v, src, from); err != nil {
			return err
		}
		for i, x := range v {
			put(i, ofInt(x, to))
		}
		return nil
	}
	v := make([]uint64, n)
	if err := convert(v, src, from); err != nil {
		return err
	}
	for i, x := range v {
		put(i, ofUint(x, to))
	}
	return nil
}

// putter returns the function that writes the bits of number i.
func putter(dst []byte, t *Type) func(i int, bits uint64) {
	return func(i int, bits uint64) {
		var all [8]byte
		to := dst[i*t.Size : (i+1)*t.Size]
		if t.BigEndian {
			binary.BigEndian.PutUint64(all[:], bits)
			copy(to, all[8-t.Size:])
			return
		}
		binary.LittleEndian.PutUint64(all[:], bits)
		copy(to, all[:])
	}
}

// floatBitsOf returns the bits of a number after a single rounding.
func floatBitsOf[T number](x T, t *Type) uint64 {
	if t.Size == 4 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(float64(x))
}

// limits returns the range of an integer type.
func (t *Type) limits() (low int64, high uint64) {
	if t.Signed {
		return -1 << (8*t.Size - 1), 1<<(8*t.Size-1) - 1
	}
	return 0, ^uint64(0) >> (64 - 8*t.Size)
}

func ofFloat(x float64, t *Type) uint64 {
	if t.Class == Float {
		return floatBitsOf(x, t)
	}
	low, high := t.limits()
	switch {
	case x != x:
		return 0
	case x <= float64(low):
		return uint64(low)
	case x >= float64(high):
		return high
	case x < 0:
		return uint64(int64(x))
	}
	return uint64(x)
}

func ofInt(x int64, t *Type) uint64 {
	if t.Class == Float {
		return floatBitsOf(x, t)
	}
	low, high := t.limits()
	if x < low {
		return uint64(low)
	}
	if x > 0 {
		return min(uint64(x), high)
	}
	return uint64(x)
}

func ofUint(x uint64, t *Type) uint64 {
	if t.Class == Float {
		return floatBitsOf(x, t)
	}
	_, high := t.limits()
	return min(x, high)
}
