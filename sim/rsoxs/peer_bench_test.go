// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/tensor"
)

// BenchmarkPeerPattern scatters one energy from 32 x 512 x 512 voxels of three materials,
// one of them aligned, in float32, at one angle and at 361. The peer runs the direct
// algorithm, which takes as long for every angle.
func BenchmarkPeerPattern(b *testing.B) {
	shape := [3]int{32, 512, 512}
	random := func(stream uint32, top float64) *tensor.Tensor {
		t, src := tensor.New(tensor.Float32, shape[:]...), tensor.NewStream(1, stream, 0)
		for i, d := 0, t.Data().([]float32); i < len(d); i++ {
			d[i] = float32(top * src.Float64())
		}
		return t
	}
	m := &Morphology{PhysSize: 2.5, Materials: []Material{{Vfrac: random(1, 1)},
		{Vfrac: random(2, 1), S: random(3, 1), Theta: random(4, math.Pi), Psi: random(5, 2*math.Pi)}, {Vfrac: random(6, 1)}}}
	o := Optics{{{1e-3, 2e-3, 1e-3, 2e-3}, {2e-3, 3e-3, 5e-4, 1e-3}, {3e-3, 1e-3, 3e-3, 1e-3}}}
	const voxels = 32 * 512 * 512
	for _, angles := range []Angles{{}, {0, 1, 360}} {
		list, _ := angles.List()
		b.Run(fmt.Sprint(len(list)), func(b *testing.B) {
			simulators := map[int]*Simulator{} // by threads
			peer.Race{
				Name: fmt.Sprintf("scattering of 32 x 512 x 512 voxels, 1 energy, %d angle(s)", len(list)), Unit: "angle",
				Ours: func() (_ peer.Done, err error) {
					threads := runtime.GOMAXPROCS(0)
					if simulators[threads] == nil {
						cfg := Config{Energies: []float64{284.7}, Angles: angles, Precision: 32, Workers: threads}
						if simulators[threads], err = New(shape, 2.5, cfg); err != nil {
							return peer.Done{}, err
						}
					}
					run(b, simulators[threads], m, o, false)
					return peer.Done{Units: float64(len(list)), Check: math.NaN()}, nil
				},
				Peers: []peer.Rival{{Name: "NumPy", Script: "rsoxs.py"}},
				Bytes: 6 * 4 * voxels / float64(len(list)), // every field read once
			}.Run(b)
		})
	}
}
