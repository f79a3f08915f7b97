// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import "math"

// BFloat16 is the upper half of a float32, given by its bits: 8 significant binary digits and the range
// of float32. It saves memory; arithmetic is done in wider types.
type BFloat16 uint16

// Float32 returns the number without rounding.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// BFloat16Of returns the number nearest to v; ties go to the even one.
func BFloat16Of(v float32) BFloat16 {
	bits := math.Float32bits(v)
	if v != v {
		return BFloat16(bits>>16 | 0x40)
	}
	return BFloat16((bits + 0x7fff + bits>>16&1) >> 16)
}

// RoundTF32 rounds to the nearest number with 11 significant binary digits; ties go away from zero.
// Tensor cores round the factors of float32 products in this way.
func RoundTF32(v float32) float32 {
	bits := math.Float32bits(v)
	if bits&0x7f800000 == 0x7f800000 {
		return v
	}
	return math.Float32frombits((bits + 0x1000) &^ 0x1fff)
}
