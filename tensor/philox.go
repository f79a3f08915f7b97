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
