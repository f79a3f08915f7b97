// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkFindCenter finds the centre of whole detectors.
func BenchmarkFindCenter(b *testing.B) {
	for _, size := range []int{512, 2048} {
		b.Run(fmt.Sprintf("%dx%d", size, size), func(b *testing.B) {
			s := scene{height: size, width: size, center: Point{0.4 * float64(size), 0.55 * float64(size)}, hidden: gaps}
			image, m := s.expose(rand.New(rand.NewPCG(1, 2)))
			for b.Loop() {
				c, err := FindCenter(image, m, CenterSettings{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(c.SDRow, "px-error")
			}
		})
	}
}

// BenchmarkSteps makes masks of a detector of four million pixels.
func BenchmarkSteps(b *testing.B) {
	const size = 2048
	s := Source{Height: size, Width: size, Image: make([]float64, size*size)}
	for name, step := range map[string]Step{
		"circle":    {Draw: []Shape{{Kind: Circle, Center: Point{1000, 1000}, Radius: 400}}},
		"threshold": {Threshold: &Threshold{Low: 1}},
		"tiles":     {Outliers: &Outliers{Tile: 32}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := step.Mask(s, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
