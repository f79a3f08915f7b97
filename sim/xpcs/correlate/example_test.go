// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/sim/xpcs/speckle"
)

// This example correlates simulated frames in two bins, of which the second relaxes five times as
// fast, and compares g2 with the one that was simulated.
func Example() {
	const frames, side, pixels = 500, 32, 32 * 32
	tau := []float64{0.5, 0.1} // s
	s := speckle.Sample{Height: side, Width: side, FrameTime: 0.01, Seed: 1, Tau: make([]float64, pixels), Mean: make([]float64, pixels)}
	maps := correlate.Maps{Height: side, Width: side, Dynamic: make([]int32, pixels)}
	for i := range pixels {
		bin := i % 2 // bins may have any shape
		maps.Dynamic[i], s.Tau[i], s.Mean[i] = int32(bin+1), tau[bin], 4
	}
	m, err := speckle.New(s)
	if err != nil {
		log.Fatal(err)
	}
	counts := make([]float32, frames*pixels)
	m.Frames(counts)

	r, err := correlate.Multitau(context.Background(), correlate.FromArray(counts, frames, side, side), maps, correlate.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Pixels, "pixels")
	for i, d := range r.Delay {
		if d.Frames == 1 || d.Frames == 4 || d.Frames == 16 {
			t := 0.01 * float64(d.Frames)
			fmt.Printf("%.2f s:", t)
			for bin := range r.Bins {
				fmt.Printf(" %.1f (simulated %.1f)", r.G2[i][bin], 1+math.Exp(-2*t/tau[bin]))
			}
			fmt.Println()
		}
	}
	// Output:
	// [512 512] pixels
	// 0.01 s: 2.0 (simulated 2.0) 1.8 (simulated 1.8)
	// 0.04 s: 1.9 (simulated 1.9) 1.5 (simulated 1.4)
	// 0.16 s: 1.5 (simulated 1.5) 1.0 (simulated 1.0)
}
