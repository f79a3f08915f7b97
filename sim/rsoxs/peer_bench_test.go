// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/tensor"
)

// BenchmarkPeerPattern scatters one energy from voxels of three materials, one of them
// aligned, in float32, at one angle, and a film at 361 as well. The peer runs the direct
// algorithm, which takes as long for every angle.
func BenchmarkPeerPattern(b *testing.B) {
	scatterBeside(b, [3]int{32, 512, 512}, Angles{}, Angles{0, 1, 360})
	scatterBeside(b, [3]int{128, 128, 128}, Angles{})
}

// oriented is a volume of three materials in float32, one of them aligned in every voxel, and their constants at one energy.
func oriented(shape [3]int) (*Morphology, Optics) {
	random := func(stream uint32, top float64) *tensor.Tensor {
		t, src := tensor.New(tensor.Float32, shape[:]...), tensor.NewStream(1, stream, 0)
		for i, d := 0, t.Data().([]float32); i < len(d); i++ {
			d[i] = float32(top * src.Float64())
		}
		return t
	}
	m := &Morphology{PhysSize: 2.5, Materials: []Material{{Vfrac: random(1, 1)},
		{Vfrac: random(2, 1), S: random(3, 1), Theta: random(4, math.Pi), Psi: random(5, 2*math.Pi)}, {Vfrac: random(6, 1)}}}
	return m, Optics{{{1e-3, 2e-3, 1e-3, 2e-3}, {2e-3, 3e-3, 5e-4, 1e-3}, {3e-3, 1e-3, 3e-3, 1e-3}}}
}

// scatterBeside runs the races of one volume.
func scatterBeside(b *testing.B, shape [3]int, angles ...Angles) {
	m, o := oriented(shape)
	voxels, size := float64(shape[0]*shape[1]*shape[2]), fmt.Sprintf("%d x %d x %d", shape[0], shape[1], shape[2])
	for _, angles := range angles {
		list, _ := angles.List()
		b.Run(fmt.Sprintf("%d/%d", shape[0], len(list)), func(b *testing.B) {
			simulators := map[int]*Simulator{} // by threads
			peer.Race{
				Name: fmt.Sprintf("scattering of %s voxels, 1 energy, %d angle(s)", size, len(list)), Unit: "angle",
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
				Peers: []peer.Rival{{Name: "NumPy", Script: "rsoxs.py", Args: strings.Fields(strings.ReplaceAll(size, "x", ""))}},
				Bytes: 6 * 4 * voxels / float64(len(list)), // every field read once
			}.Run(b)
		})
	}
}

// BenchmarkPeerGradient takes patterns with their gradients, into the same memory each time, beside the patterns alone: of voxels that
// are oriented everywhere and of the core-shell film, 32 x 512 x 512 each.
func BenchmarkPeerGradient(b *testing.B) {
	shape := [3]int{32, 512, 512}
	voxels, o := oriented(shape)
	gradientBeside(b, "oriented voxels", voxels, []float64{284.7}, o, Angles{})
	gradientBeside(b, "oriented voxels", voxels, []float64{284.7}, o, Angles{0, 1, 360})
	m, energies, o := panel(b, 1)
	gradientBeside(b, "the core-shell film", m, energies, o, Angles{})
	for _, n := range []int{1, 10} {
		m, energies, o := panel(b, n)
		gradientBeside(b, "the core-shell film", m, energies, o, Angles{0, 1, 360})
	}
}

func gradientBeside(b *testing.B, what string, m *Morphology, energies []float64, o Optics, angles Angles) {
	list, _ := angles.List()
	simulators, gradients := map[int]*Simulator{}, map[int]*Gradient{} // by threads
	work := func(grad bool) func() (peer.Done, error) {
		return func() (_ peer.Done, err error) {
			threads := runtime.GOMAXPROCS(0)
			if simulators[threads] == nil {
				if simulators[threads], err = New(m.Shape(), m.PhysSize, Config{Energies: energies, Angles: angles, Precision: 32, Workers: threads}); err != nil {
					return peer.Done{}, err
				}
			}
			p := run(b, simulators[threads], m, o, false)
			if grad {
				gradients[threads], err = simulators[threads].GradientTo(context.Background(), gradients[threads], o, p.Intensity)
			}
			return peer.Done{Check: math.NaN()}, err
		}
	}
	b.Run(fmt.Sprintf("%dx%d/%s", len(energies), len(list), what), func(b *testing.B) {
		peer.Race{
			Name: fmt.Sprintf("pattern and gradient of %s, %d energies, %d angle(s)", what, len(energies), len(list)),
			Ours: work(true), Peers: []peer.Rival{{Name: "the pattern alone", Own: work(false)}},
		}.Run(b)
	})
}
