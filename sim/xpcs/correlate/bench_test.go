// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkMultitau measures frames per second of 1024 x 1024 pixels on one core: dense frames in memory, and
// events at an occupancy of one in a thousand, with the noise of photons and without.
func BenchmarkMultitau(b *testing.B) {
	const side = 1024
	maps := Maps{Height: side, Width: side, Dynamic: make([]int32, side*side), Static: make([]int32, side*side)}
	for i := range maps.Dynamic {
		maps.Dynamic[i] = int32(1 + i*36/len(maps.Dynamic))
		maps.Static[i] = int32(1 + i*360/len(maps.Dynamic))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	pool := make([]float32, 16*side*side)
	for i := range pool {
		pool[i] = float32(rng.IntN(5))
	}
	dense := Movie{Frames: 512, Height: side, Width: side, Dense: func(first int, dst []float32) error {
		for len(dst) > 0 {
			n := copy(dst, pool[first%16*side*side:])
			dst, first = dst[n:], first+n/side/side
		}
		return nil
	}}
	var events [64]Events
	for i := range events {
		events[i].Reset()
		for p := range uint32(side * side) {
			if rng.IntN(1000) == 0 {
				events[i].Pixel, events[i].Count = append(events[i].Pixel, p), append(events[i].Count, 1)
			}
		}
		events[i].End()
	}
	sparse := Movie{Frames: 16384, Height: side, Width: side, Sparse: func(first, n int, dst *Events) error {
		dst.Reset()
		for f := first; f < first+n; f++ {
			e := &events[(f*37)%64]
			dst.Pixel, dst.Count = append(dst.Pixel, e.Pixel...), append(dst.Count, e.Count...)
			dst.End()
		}
		return nil
	}}
	for name, m := range map[string]Movie{"dense": dense, "sparse": sparse} {
		for _, photons := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/photons_%v", name, photons), func(b *testing.B) {
				for b.Loop() {
					if _, err := Multitau(context.Background(), m, maps, Settings{Threads: 1, Normalize: true, Photons: photons}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(m.Frames*b.N)/b.Elapsed().Seconds(), "frames/s")
			})
		}
	}
}
