package kernels

import (
	"math"
	"math/rand"
	"testing"
)

func TestLargestOfFour64(t *testing.T) { largestAll(t, LargestOfFour64) }
func TestLargestOfFour32(t *testing.T) { largestAll(t, LargestOfFour32) }

func largestAll[T float](t *testing.T, f func(l Level, at []int64, top, bottom []T, first, width int)) {
	special := []T{0, T(math.Copysign(0, -1)), T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), 1, 1, 2}
	for _, l := range Levels() {
		r := rand.New(rand.NewSource(11))
		for n := range 70 {
			width := 2*n + r.Intn(3)
			plane := normal[T](r, 3*width)
			if n%2 == 1 {
				for i := range plane {
					plane[i] = special[r.Intn(len(special))]
				}
			}
			at := make([]int64, n)
			f(l, at, plane[width:], plane[2*width:], width, width)
			for q, got := range at {
				want := -1
				for _, i := range []int{0, 1, width, width + 1} {
					i += width + 2*q
					if want < 0 || plane[i] > plane[want] || plane[i] != plane[i] && plane[want] == plane[want] {
						want = i
					}
				}
				if int(got) != want {
					t.Fatalf("%v: window %d of %d in rows of %d: %d, want %d, of %v", l, q, n, width, got, want, plane)
				}
			}
		}
	}
}
