// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// Gradients of the means over angles are the same for energies together and alone, and have the same bits for any number of workers,
// where the detector does not see the corners.
func TestEnergiesGoBackTogether(t *testing.T) {
	const ny, nx, energies = 83, 50, 5
	for _, angles := range []Angles{{0, 7, 360}, {10, 25, 35}, {0, 15, 120}} {
		back := func(workers, together int) [][]float64 {
			cfg := Config{Angles: angles, RotMask: true, Workers: workers, Energies: make([]float64, energies)}
			for e := range cfg.Energies {
				cfg.Energies[e] = 300 + 20*float64(e)
			}
			s, err := New([3]int{4, ny, nx}, 2.5, cfg)
			if err != nil {
				t.Fatal(err)
			}
			src, all := tensor.NewStream(3, 1, 0), [][]float64{}
			for from := 0; from < energies; from += together {
				var exposures []*exposure
				var g [][]float64
				for e := from; e < min(from+together, energies); e++ {
					h := s.newExposure(s.beams[0], s.averages[0].turns, e, nil)
					h.outline(1)
					exposures, g = append(exposures, h), append(g, make([]float64, ny*nx))
					for i := range g[e-from] {
						g[e-from][i] = src.Float64() - 0.5
					}
				}
				seen := outlines(exposures)
				s.averages[0].back(g, s.averages[0].counts(seen, len(g)), seen, exposures)
				for _, h := range exposures {
					all = append(all, slices.Concat(h.images...))
				}
			}
			return all
		}
		alone, together := back(1, 1), back(1, energies)
		for e, row := range back(5, energies) {
			for i, v := range row {
				if want := alone[e][i]; v != together[e][i] || !(math.Abs(v-want) <= 1e-12) {
					t.Fatalf("angles %v, energy %d, element %d: %g with five workers, %g with one, %g alone", angles, e, i, v, together[e][i], want)
				}
			}
		}
	}
}
