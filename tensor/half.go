// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import "math"

// Half is a number in IEEE half precision, given by its bits: 11 significant binary digits, up to
// 65504. It saves memory; arithmetic is done in wider types.
type Half uint16

// Float32 returns the number without rounding.
func (h Half) Float32() float32 {
	bits := uint32(h&0x7fff) << 13
	v := math.Float32frombits(bits) * 0x1p112 // the exponent counts from -15, not -127
	if h&0x7c00 == 0x7c00 {
		v = math.Float32frombits(bits | 0x7f800000)
	}
	return math.Float32frombits(math.Float32bits(v) | uint32(h&0x8000)<<16)
}

// HalfOf returns the half-precision number nearest to v; ties go to the even one. Numbers beyond
// 65504 become infinite.
func HalfOf(v float64) Half {
	sign := Half(math.Float64bits(v) >> 48 & 0x8000)
	v = math.Abs(v)
	switch {
	case v != v:
		return 0x7e00
	case v >= 65520:
		return sign | 0x7c00
	case v < 0x1p-14: // a multiple of 2^-24
		return sign | Half(math.RoundToEven(v*0x1p24))
	}
	frac, exp := math.Frexp(v)
	return sign | Half(exp+13)<<10 + Half(math.RoundToEven(frac*2048))
}
