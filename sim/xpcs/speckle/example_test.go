// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package speckle_test

import (
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/sim/xpcs/speckle"
)

// This example simulates 400 frames of speckles that relax within 0.1 s, and compares g2 at one
// delay, computed by its definition, with the one of the model, 1 + contrast exp(-2 t/tau).
func Example() {
	const frames, side, pixels = 400, 32, 32 * 32
	s := speckle.Sample{Height: side, Width: side, FrameTime: 0.01, Modes: 2, Seed: 1, Tau: make([]float64, pixels), Mean: make([]float64, pixels)}
	for i := range pixels {
		s.Tau[i], s.Mean[i] = 0.1, 2 // s, and counts in a frame
	}
	m, err := speckle.New(s)
	if err != nil {
		log.Fatal(err)
	}
	counts := make([]float32, frames*pixels)
	m.Frames(counts)

	const delay = 5 // frames, which are 0.05 s
	var product, mean float64
	for i, c := range counts {
		mean += float64(c) / (frames * pixels)
		if i+delay*pixels < len(counts) {
			product += float64(c) * float64(counts[i+delay*pixels]) / ((frames - delay) * pixels)
		}
	}
	fmt.Printf("contrast %.1f, mean count %.1f\n", s.Contrast(), mean)
	fmt.Printf("g2(0.05 s) = %.2f, model 1 + 0.5 exp(-1) = 1.18\n", product/(mean*mean))
	// Output:
	// contrast 0.5, mean count 2.0
	// g2(0.05 s) = 1.18, model 1 + 0.5 exp(-1) = 1.18
}
