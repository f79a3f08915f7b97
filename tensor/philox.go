// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import "math/bits"

// Philox is the block function of the counter-based generator Philox4x32-10:
// it maps a 128-bit counter and a 64-bit key to four random 32-bit words, with
// no state between calls.
//
// Reference: Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as
// 1, 2, 3, SC11, doi 10.1145/2063384.2063405.
func Philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	c0, c1, c2, c3 := counter[0], counter[1], counter[2], counter[3]
	k0, k1 := key[0], key[1]
	for range 10 {
		hi0, lo0 := bits.Mul32(0xD2511F53, c0)
		hi1, lo1 := bits.Mul32(0xCD9E8D57, c2)
		c0, c1, c2, c3 = hi1^c1^k0, lo1, hi0^c3^k1, lo0
		k0 += 0x9E3779B9 // golden ratio
		k1 += 0xBB67AE85 // sqrt(3) - 1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// philoxPair writes Philox at counter, which is even, and at the next one. Most of
// a block is waiting for products, so two at once take little longer than one.
func philoxPair(out *[8]uint32, counter [4]uint32, key [2]uint32) {
	a0, a1, a2, a3 := counter[0], counter[1], counter[2], counter[3]
	b0, b1, b2, b3 := a0+1, a1, a2, a3
	k0, k1 := key[0], key[1]
	for range 10 {
		p0, q0 := 0xD2511F53*uint64(a0), 0xD2511F53*uint64(b0)
		p1, q1 := 0xCD9E8D57*uint64(a2), 0xCD9E8D57*uint64(b2)
		a0, a1, a2, a3 = uint32(p1>>32)^a1^k0, uint32(p1), uint32(p0>>32)^a3^k1, uint32(p0)
		b0, b1, b2, b3 = uint32(q1>>32)^b1^k0, uint32(q1), uint32(q0>>32)^b3^k1, uint32(q0)
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
	*out = [8]uint32{a0, a1, a2, a3, b0, b1, b2, b3}
}
