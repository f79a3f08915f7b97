// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// Images of the polarization along x have the bits of those that the general sums over pixels give, for one, two and no aligned
// materials, odd and even numbers of planes, and both grids.
func TestExposeAlong(t *testing.T) {
	for _, shape := range [][3]int{{1, 8, 9}, {5, 12, 7}, {8, 9, 16}} {
		for aligned := range 3 {
			for _, grid := range []Grid{CyRSoXSGrid, ExactGrid} {
				random := func(stream uint32, top float64) *tensor.Tensor {
					a, src := tensor.New(tensor.Float32, shape[:]...), tensor.NewStream(1, stream, 0)
					for i, d := 0, a.Data().([]float32); i < len(d); i++ {
						d[i] = float32(top * src.Float64())
					}
					return a
				}
				m, o := &Morphology{PhysSize: 2.5}, Optics{nil}
				for i := range 3 {
					k := uint32(4 * i)
					f := Material{Vfrac: random(k, 1)}
					if i < aligned {
						f.S, f.Theta, f.Psi = random(k+1, 1), random(k+2, 3), random(k+3, 6)
					}
					m.Materials, o[0] = append(m.Materials, f), append(o[0], Constants{1e-3 * float64(i+1), 2e-3, 5e-4, 1e-3 * float64(2-i)})
				}
				s, err := New(shape, 2.5, Config{Energies: []float64{900}, Precision: 32, Grid: grid})
				if err != nil {
					t.Fatal(err)
				}
				run(t, s, m, o, false)
				spectra := s.spectra.(*spectra[float32])
				if spectra.polarizer == nil {
					t.Fatalf("%v voxels with %d aligned materials: the fields are transformed", shape, aligned)
				}
				err = s.batches(context.Background(), o, func(_, _ int, exposures []*exposure) {
					h := exposures[0]
					spectra.expose(exposures)
					fast := slices.Clone(h.images[0])
					for row := range shape[1] {
						spectra.exposeRow(h, row, func(out []float64, t site, w float64, kappa vec) {
							a1, a2 := spectra.polarizations(h, &t)
							h.add(out, w, &a1, &a2, kappa)
						})
					}
					seen := 0
					for i, want := range h.images[0] {
						if want == want {
							seen++
						}
						if math.Float64bits(fast[i]) != math.Float64bits(want) && (want == want || fast[i] == fast[i]) {
							t.Fatalf("%v voxels with %d aligned materials: pixel %d is %v, want %v", shape, aligned, i, fast[i], want)
						}
					}
					if seen == 0 {
						t.Errorf("%v voxels: the detector sees nothing", shape)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
