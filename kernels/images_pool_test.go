// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"math/rand"
	"testing"
)

func TestLargestOfFour64(t *testing.T) { largestAll(t, LargestOfFour64) }
func TestLargestOfFour32(t *testing.T) { largestAll(t, LargestOfFour32) }

func largestAll[T float](t *testing.T, f func(l Level, rows, n int, plane []T, down, width int, at []int64)) {
	special := []T{0, T(math.Copysign(0, -1)), T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), 1, 1, 2}
	for _, l := range Levels() {
		r := rand.New(rand.NewSource(11))
		for n := range 70 {
			rows, width := r.Intn(4), 2*n+r.Intn(3)
			down := (1 + r.Intn(3)) * width
			plane := normal[T](r, rows*down+2*width)
			if n%2 == 1 {
				for i := range plane {
					plane[i] = special[r.Intn(len(special))]
				}
			}
			at := make([]int64, rows*n)
			f(l, rows, n, plane, down, width, at)
			for k, got := range at {
				want := -1
				for _, i := range []int{0, 1, width, width + 1} {
					i += k/n*down + 2*(k%n)
					if want < 0 || plane[i] > plane[want] || plane[i] != plane[i] && plane[want] == plane[want] {
						want = i
					}
				}
				if int(got) != want {
					t.Fatalf("%v: window %d of %d x %d in rows of %d, %d apart: %d, want %d, of %v", l, k, rows, n, width, down, got, want, plane)
				}
			}
		}
	}
}
