// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"unsafe"
)

var (
	pureReduce64 = reduceLoops[float64]()
	pureReduce32 = reduceLoops[float32]()
)

// lanes is the number of accumulators of every reduction; element i goes to accumulator i mod lanes.
const lanes = 32

func reduceLoops[T float]() map[string]func(a *T, n int) float64 {
	return map[string]func(a *T, n int) float64{
		"sum": func(a *T, n int) float64 {
			var acc [lanes]float64
			for i, v := range slice(a, n) {
				acc[i%lanes] += float64(v)
			}
			return fold(&acc)
		},
		"sumsq": func(a *T, n int) float64 {
			var acc [lanes]float64
			for i, v := range slice(a, n) {
				acc[i%lanes] += float64(float64(v) * float64(v))
			}
			return fold(&acc)
		},
		"max": func(a *T, n int) float64 {
			m := math.Inf(-1)
			for _, v := range slice(a, n) {
				if x := float64(v); !(x < m) { // larger, equal (perhaps zeros of different sign) or NaN
					m = larger(x, m)
				}
			}
			return m
		},
		"min": func(a *T, n int) float64 {
			m := math.Inf(1)
			for _, v := range slice(a, n) {
				if x := float64(v); !(x > m) {
					m = smaller(x, m)
				}
			}
			return m
		},
	}
}

var larger, smaller = extreme[float64](math.Max), extreme[float64](math.Min)

func pureDot[T float](a, b *T, n int) float64 {
	var acc [lanes]float64
	x, y := pair(a, b, n)
	for i, v := range x {
		acc[i%lanes] += float64(float64(v) * float64(y[i]))
	}
	return fold(&acc)
}

// fold adds the accumulators in halves: 0 with 16, 1 with 17, and so on, then 0 with 8.
func fold(acc *[lanes]float64) float64 {
	for w := lanes / 2; w > 0; w /= 2 {
		for i := range w {
			acc[i] += acc[i+w]
		}
	}
	return acc[0]
}

func pureFill[T float](dst *T, v T, n int) {
	for i, d := 0, slice(dst, n); i < len(d); i++ {
		d[i] = v
	}
}

func slice[T float](a *T, n int) []T {
	if n <= 0 {
		return nil
	}
	return unsafe.Slice(a, n)
}
