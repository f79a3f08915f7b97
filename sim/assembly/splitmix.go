// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

// mix scrambles a number so that each bit of the result depends on all bits.
//
// Reference: Steele, Lea and Flood, splitmix64, doi:10.1145/2660193.2660195.
func mix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

// Hashed returns connections that depend only on the seed, the fibre number, the source and the
// target, pair by pair; reference values are computed with them. number maps the names of a fibre to
// its number.
func Hashed(seed uint64, number func(from, to string) uint64) func(dst []int32, f Fibre, source int) []int32 {
	return func(dst []int32, f Fibre, source int) []int32 {
		base := mix(seed<<32+number(f.From, f.To)) ^ uint64(source)<<32
		limit := uint64(f.P * (1 << 32))
		for j := range f.N {
			if mix(base^uint64(j))>>32 < limit {
				dst = append(dst, int32(j))
			}
		}
		return dst
	}
}

// Jitter returns a number from 0 to 1 that depends on a pair of neurons in the same way as Hashed;
// it breaks ties.
func Jitter(seed, number uint64, source, target int) float64 {
	return float64(mix(mix(seed<<32+number)^uint64(source)<<32^uint64(target))&0xFFFFF) / (1 << 20)
}
