// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Division by one number is rounded correctly for every size of dividend and
// divisor, with mantissas of many zeros and ones among them.
func TestDivisionByOneNumberIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	divide[float64](t, Binary64, func() float64 {
		return math.Float64frombits(pattern(rng, 52, 0x7ff) | rng.Uint64()<<63)
	})
	divide[float32](t, Binary32, func() float32 {
		return math.Float32frombits(uint32(pattern(rng, 23, 0xff)) | rng.Uint32()<<31)
	})
}

// pattern is a number with that many bits of mantissa; most are of moderate size.
func pattern(rng *rand.Rand, bits int, exponents uint64) uint64 {
	m := rng.Uint64() >> (64 - bits)
	edge := rng.Uint64() & 0xff
	switch rng.IntN(6) {
	case 0:
		m = edge
	case 1:
		m = 1<<bits - 1 - edge
	case 2:
		m = 1<<(bits-1) + edge - 128
	}
	e := exponents/2 + rng.Uint64N(exponents/8) - exponents/16
	if rng.IntN(500) == 0 {
		e = rng.Uint64N(exponents + 1)
	}
	return e<<bits | m
}

func divide[T float](t *testing.T, kernel func(Level, string) func(dst, a, b *T, n int), number func() T) {
	const n = 96
	a, dst := make([]T, n), make([]T, n)
	for range 20_000 {
		b := number()
		for i := range a {
			a[i] = number()
		}
		for _, l := range Levels() {
			kernel(l, "div_s")(&dst[0], &a[0], &b, n)
			for i, x := range a {
				if want := x / b; !same(dst[i], want) {
					t.Fatalf("%v: %v / %v is %v, want %v", l, x, b, dst[i], want)
				}
			}
		}
	}
}
