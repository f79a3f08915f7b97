// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

// randomStream is a stream of random numbers, a function of its key and of how many numbers were
// drawn (splitmix64, see mix).
type randomStream struct{ state uint64 }

func newRandomStream(seed uint64, purpose uint32, index int) randomStream {
	return randomStream{mix(mix(seed^uint64(purpose)<<32) + uint64(index))}
}

// next returns 64 random bits.
func (d *randomStream) next() uint64 {
	d.state += 0x9E3779B97F4A7C15
	z := (d.state ^ (d.state >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}

// uniform returns a number in (0, 1].
func (d *randomStream) uniform() float64 { return float64(d.next()>>11+1) / (1 << 53) }

// below returns a number from 0 to n-1.
func (d *randomStream) below(n int) int { return int(d.next() >> 32 * uint64(n) >> 32) }
