// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/tensor"
)

// Pixels that are far brighter than the others of their static bin are found, with the baseline that they give g2: (N - 1 + f^2) N / (N - 1 + f)^2
// for one that is f times as bright as N - 1 others.
func TestHotPixels(t *testing.T) {
	const n, frames = 100, 1000
	m := &nexus.Maps{Height: 10, Width: n / 5, Dynamic: make([]int32, 2*n), Static: make([]int32, 2*n)}
	image := make([]float64, 2*n)
	for i := range image {
		m.Static[i], m.Dynamic[i], image[i] = int32(1+i/n), 1, 0.1
	}
	if h := hotPixels(m, image, frames); h.Pixels != nil {
		t.Errorf("equal pixels: %+v", h)
	}
	image[7], image[150] = 10, 1 // the second is 10 times as bright, as speckles may be
	want := ((99+1e4)*100/(199*199) + (99+100.)*100/(109*109)) / 2
	if h := hotPixels(m, image, frames); !slices.Equal(h.Pixels, []int{7}) || h.Mean != 10 || math.Abs(h.Of-0.1) > 1e-12 || math.Abs(h.Baseline-want) > 1e-9 || h.Bin != 1 {
		t.Errorf("%+v: want pixel 7 and a baseline of %g", h, want)
	}
}

// Of movies of photons, of few frames and of static speckles with full contrast, none has hot pixels.
func TestNoHotPixelsInRightMovies(t *testing.T) {
	const n, movies = 1000, 300
	m := &nexus.Maps{Height: 1, Width: n, Dynamic: slices.Repeat([]int32{1}, n), Static: make([]int32, n)}
	image := make([]float64, n)
	for seed := range uint64(movies) {
		z := tensor.NewStream(seed, 0, 0)
		counts, frames := []float64{0.003, 0.03, 0.3, 30}[seed%4], []int{3, 100, 5000}[seed%3]
		for i := range image {
			m.Static[i] = int32(1 + i/[]int{20, 100, n}[seed/4%3])
			light := z.Exp() * min(counts*float64(frames), 20)
			sum := 0.0
			for at := z.Exp(); at < light; at += z.Exp() {
				sum++
			}
			image[i] = sum / float64(frames)
		}
		if h := hotPixels(m, image, frames); h.Pixels != nil {
			t.Errorf("seed %d, %g counts in %d frames: %+v", seed, counts, frames, h)
		}
	}
}
