// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// VolumeOf returns a morphology in the form stored in files, in the same memory. Vacuum
// is added as the last material if the others do not fill the volume.
func VolumeOf(m *rsoxs.Morphology) (*cyrsoxs.Morphology, error) {
	v := &cyrsoxs.Morphology{Shape: m.Shape(), PhysSize: m.PhysSize}
	for _, x := range m.Materials {
		var phase cyrsoxs.Phase
		for at, t := range map[*cyrsoxs.Field]*tensor.Tensor{&phase.Vfrac: x.Vfrac, &phase.S: x.S, &phase.Theta: x.Theta, &phase.Psi: x.Psi} {
			var err error
			if *at, err = cyrsoxs.FieldOf(t); err != nil {
				return nil, err
			}
		}
		v.Phases = append(v.Phases, phase)
	}
	rest, most := make([]float64, v.Voxels()), 0.0
	for i := range rest {
		rest[i] = 1
		for _, p := range v.Phases {
			rest[i] -= p.Vfrac.At(i)
		}
		rest[i] = max(rest[i], 0)
		most = max(most, rest[i])
	}
	if most > cyrsoxs.DefaultTolerance {
		v.Phases = append(v.Phases, cyrsoxs.Phase{Vfrac: cyrsoxs.Field{Float64: rest}})
	}
	return v, nil
}
