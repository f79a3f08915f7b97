// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"testing"
)

// Every level adds the bits of the plain loops, with NaN in some lanes, places read nowhere, and any number of them.
func TestAddCorners(t *testing.T) {
	const size = 40
	image := make([][8]float64, size)
	for i, v := range normals(8*size, 1) {
		image[i/8][i%8] = v
	}
	image[3][2], image[17] = math.NaN(), [8]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	for _, l := range Levels() {
		kernel := one(l, pureAddCorners, addCornerss)
		for n := 1; n < 70; n += 3 {
			w, corners := normals(4*n, uint64(n)), make([]Corners, n)
			for i := range corners {
				c := &corners[i]
				for k := range c.At {
					c.At[k], c.Weight[k] = int32((7*i+5*k*k+n)%size), w[4*i+k]
				}
				if i%9 == 4 {
					c.At[0] = -1
				}
			}
			var sums, partials [2][][8]float64
			var fulls [2][]float64
			for k, f := range []addCornersFn{pureAddCorners, kernel} {
				sums[k], partials[k], fulls[k] = make([][8]float64, n), make([][8]float64, n), make([]float64, n)
				for _, times := range []float64{1, 3} {
					f(&sums[k][0][0], &partials[k][0][0], &fulls[k][0], &image[0][0], &corners[0].At[0], times, n)
				}
			}
			for i := range n {
				if sums[0][i] != sums[1][i] || partials[0][i] != partials[1][i] || fulls[0][i] != fulls[1][i] {
					t.Fatalf("%v n=%d place %d: %v %v %v, want %v %v %v", l, n, i, sums[1][i], partials[1][i], fulls[1][i], sums[0][i], partials[0][i], fulls[0][i])
				}
			}
		}
	}
}

func TestAddCornersReads(t *testing.T) {
	nan := math.NaN()
	image := [][8]float64{{0: 1, 1: 10, 2: nan}, {0: 2, 1: 20}, {0: 4, 1: 40}, {0: 8, 1: 80, 7: nan}}
	sum, partial, full := make([][8]float64, 3), make([][8]float64, 3), make([]float64, 3)
	AddCorners(sum, partial, full, image, []Corners{
		{At: [4]int32{1, 1, 2, 2}, Weight: [4]float64{0.5, 0.25, 1, 0}}, {At: [4]int32{-1}}, {At: [4]int32{0, 1, 2, 3}, Weight: [4]float64{1, 1, 1, 1}}}, 2)
	if sum[0][0] != 11 || sum[0][1] != 110 || full[0] != 2 || partial[0][0] != 0 {
		t.Errorf("%v %v %v", sum[0], partial[0], full[0])
	}
	if sum[1] != [8]float64{} || full[1] != 0 || partial[1] != [8]float64{} {
		t.Errorf("read nowhere: %v %v", sum[1], full[1])
	}
	if sum[2][0] != 30 || sum[2][1] != 300 || sum[2][2] != 0 || full[2] != 0 || partial[2] != [8]float64{2, 2, 0, 2, 2, 2, 2, 0} {
		t.Errorf("with NaN: %v %v %v", sum[2], partial[2], full[2])
	}
	AddCorners(nil, nil, nil, image, nil, 1)
	defer func() {
		if recover() == nil {
			t.Error("a place outside the image: no panic")
		}
	}()
	AddCorners(sum[:1], partial[:1], full[:1], image, []Corners{{At: [4]int32{0, 4, 0, 0}}}, 1)
}
