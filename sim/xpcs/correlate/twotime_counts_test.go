// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/kernels"
)

// speckled returns counts up to a number, with static bins of stripes and pixels outside of all bins.
func speckled(frames, h, w, most int) ([]float32, Maps) {
	r := rand.New(rand.NewPCG(3, 4))
	data := make([]float32, frames*h*w)
	for i := range data {
		data[i] = float32(r.IntN(most + 1))
	}
	maps := Maps{Height: h, Width: w, Dynamic: make([]int32, h*w), Static: make([]int32, h*w)}
	for p := range maps.Dynamic {
		y, x := p/w, p%w
		if x%17 != 3 {
			maps.Dynamic[p] = int32(1 + 2*y/h)
			maps.Static[p] = 1 + int32(2*y/h*4+(x+y/3)%40/10)
		}
	}
	return data, maps
}

// halved are the same counts in a unit of which they are no whole numbers, so that they are divided before they are multiplied; their two-time correlations are the same.
func halved(data []float32) []float32 {
	all := slices.Clone(data)
	for i := range all {
		all[i] /= 2
	}
	return all
}

// Products of counts, of any size and over several slabs and readings, are those of divided counts, and so are the errors at ages.
func TestTwotimeOfCounts(t *testing.T) {
	if !kernels.Counting(kernels.Best()) {
		t.Skip("this processor has no products of counts")
	}
	const n, h, w = 259, 61, 90
	for _, most := range []int{5, kernels.MostCount} {
		data, maps := speckled(n, h, w, most)
		clear(data[7*h*w : 8*h*w])
		clear(data[90*h*w : 90*h*w+h*w/2])
		want := twotimes(t, FromArray(halved(data), n, h, w), maps, Settings{Precision: 64, Ages: true})
		for name, s := range map[string]Settings{"one thread": {Threads: 1}, "three threads": {Threads: 3}, "float64": {Precision: 64}, "readings": {MaxBytes: 16*n*n + 4*n*3000}, "dynamic": {Smooth: "dynamic"}} {
			s.Ages = true
			want := want
			if s.Smooth != "" {
				want = twotimes(t, FromArray(halved(data), n, h, w), maps, Settings{Precision: 64, Ages: true, Smooth: s.Smooth})
			}
			for bin, c := range twotimes(t, FromArray(data, n, h, w), maps, s) {
				for i, v := range want[bin].C2 {
					if !(math.Abs(c.C2[i]-v) <= 1e-13*max(1, v)) {
						t.Fatalf("%s, counts to %d, bin %d: element (%d, %d) is %v, want %v", name, most, bin, i/n, i%n, c.C2[i], v)
					}
				}
				if a, b := c.Ages, want[bin].Ages; !(math.Abs(a.Wider-b.Wider) <= 1e-4*b.Wider) || !near32(a.Values, b.Values, 1e-4) {
					t.Errorf("%s, counts to %d, bin %d: errors at ages differ: %v and %v", name, most, bin, a.Wider, b.Wider)
				}
			}
		}
	}
}

func near32(a, b []float32, tol float64) bool {
	size := 0.0
	for _, v := range b {
		size = max(size, math.Abs(float64(v)))
	}
	for i := range a {
		if !(math.Abs(float64(a[i]-b[i])) <= tol*size) {
			return false
		}
	}
	return len(a) == len(b)
}

// A number that is no count, wherever it is, gives a bin what it has if all of its counts are divided from the beginning.
func TestTwotimeAfterCounts(t *testing.T) {
	const n, h, w = 200, 40, 60
	for _, late := range []int{1, 7, 64, 100, n - 1} {
		for _, odd := range []float32{200, 3.5, -2} {
			data, maps := speckled(n, h, w, 9)
			data[late*h*w+45] = odd
			begun := slices.Clone(data)
			begun[50] = 1000
			panels := [2][]held[float32]{}
			for i, d := range [][]float32{data, begun} {
				m := FromArray(d, n, h, w)
				tt, err := prepared(m, &maps, Settings{}.defaults())
				if err != nil {
					t.Fatal(err)
				}
				tt.sums, tt.levels, tt.factors = map[int][]float64{}, map[int][]float64{}, map[int][]float64{}
				if panels[i], err = hold[float32](context.Background(), tt, tt.passes(1 << 30)[0], true, func(int) {}); err != nil {
					t.Fatal(err)
				}
			}
			got, want := panels[0][0].divided, panels[1][0].divided
			width := panels[0][0].to
			for i, v := range want {
				if ofFirst := i < panel*width && i%panel == 0; !ofFirst && got[i] != v {
					t.Fatalf("%v in frame %d: element %d is %v, want %v", odd, late, i, got[i], v)
				}
			}
			if kernels.Counting(kernels.Best()) && (panels[0][1].divided != nil || panels[1][1].words == nil) {
				t.Error("counts of the other bin are not held as such")
			}
		}
	}
}

// Frames of few pixels in each static bin are divided as before.
func TestTwotimeOfSmallBins(t *testing.T) {
	const n, h, w = 60, 8, 12
	data, maps := speckled(n, h, w, 5)
	for p := range maps.Static {
		if maps.Static[p] = 0; maps.Dynamic[p] > 0 {
			maps.Static[p] = 1 + int32(p/3)
		}
	}
	want := twotimes(t, FromArray(halved(data), n, h, w), maps, Settings{})
	for bin, c := range twotimes(t, FromArray(data, n, h, w), maps, Settings{}) {
		if !slices.Equal(c.C2, want[bin].C2) {
			t.Errorf("bin %d differs", bin)
		}
	}
}
