// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// This example computes the patterns of a disc at two energies and reduces them to curves. The
// molecules of the disc point outwards. On resonance they absorb light whose electric field is along
// them more strongly than other light, and their pattern is anisotropic; off resonance it is not.
func Example() {
	const n = 64
	var disc, rest, theta, psi [n * n]float64
	for i := range n * n {
		x, y := float64(i%n)-31.5, float64(i/n)-31.5
		if math.Hypot(x, y) < 16 {
			disc[i] = 1
		} else {
			rest[i] = 1
		}
		theta[i], psi[i] = math.Pi/2, math.Atan2(y, x)
	}
	m := &rsoxs.Morphology{PhysSize: 2, Materials: []rsoxs.Material{ // voxels of 2 nm
		{Name: "disc", Vfrac: slice(disc[:]), S: slice(disc[:]), Theta: slice(theta[:]), Psi: slice(psi[:])},
		{Name: "matrix", Vfrac: slice(rest[:])},
	}}
	optics := rsoxs.Optics{ // by energy, then by material
		{{DeltaPara: 1e-3, DeltaPerp: 1e-3}, {}},
		{{DeltaPara: 1e-3, BetaPara: 4e-3, DeltaPerp: 1e-3, BetaPerp: 1e-3}, {}},
	}
	p, err := rsoxs.Simulate(context.Background(), m, optics, rsoxs.Config{Energies: []float64{270, 285}})
	if err != nil {
		log.Fatal(err)
	}
	reducer, err := rsoxs.Reduction{}.NewReducer(p)
	if err != nil {
		log.Fatal(err)
	}
	curves, err := reducer.Reduce(p)
	if err != nil {
		log.Fatal(err)
	}
	for e, energy := range curves.Energies {
		const k = 3
		fmt.Printf("%g eV, q = %.2f 1/nm: the intensity along the field is %.2f of that across it\n",
			energy, curves.Q[e][k], curves.Para.At(e, 0, k).(float64)/curves.Perp.At(e, 0, k).(float64))
	}
	// Output:
	// 270 eV, q = 0.15 1/nm: the intensity along the field is 0.99 of that across it
	// 285 eV, q = 0.15 1/nm: the intensity along the field is 2.25 of that across it
}

// slice makes a single slice of a morphology, with the axes Z, Y, X.
func slice(x []float64) *tensor.Tensor {
	t, err := tensor.From(x, 1, 64, 64)
	if err != nil {
		log.Fatal(err)
	}
	return t
}
