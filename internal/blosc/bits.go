// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package blosc

// Unshuffle undoes the sorting of bits by their position in elements of size bytes. For n elements, row r of n/8 bytes of src
// holds bit r%8 of byte r/8 of each. Elements beyond a multiple of 8 are copied as they are, as is what is left of src
// then.
func Unshuffle(dst, src []byte, size int) {
	n := len(src) / size &^ 7
	row := n / 8
	for k := range size {
		rows := src[8*k*row : 8*(k+1)*row]
		for i := range row {
			x := uint64(rows[i]) | uint64(rows[i+row])<<8 | uint64(rows[i+2*row])<<16 | uint64(rows[i+3*row])<<24 |
				uint64(rows[i+4*row])<<32 | uint64(rows[i+5*row])<<40 | uint64(rows[i+6*row])<<48 | uint64(rows[i+7*row])<<56
			if x != 0 {
				x = transpose(x)
			}
			to := dst[8*i*size+k:]
			for j := range 8 {
				to[j*size] = byte(x >> (8 * j))
			}
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// transpose swaps bit j of byte i with bit i of byte j.
func transpose(x uint64) uint64 {
	const a, b, c = 0x00aa00aa00aa00aa, 0x0000cccc0000cccc, 0x00000000f0f0f0f0
	t := (x ^ x>>7) & a
	x ^= t ^ t<<7
	t = (x ^ x>>14) & b
	x ^= t ^ t<<14
	t = (x ^ x>>28) & c
	return x ^ t ^ t<<28
}
