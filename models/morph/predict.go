// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"context"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// Predict returns the morphology at parameters x, given in the order of Names, and the
// detected pattern with scale and background.
func (t *Task) Predict(ctx context.Context, x []float64) (*rsoxs.Morphology, *rsoxs.Pattern, error) {
	scene, err := t.Inversion.scene(x)
	if err != nil {
		return nil, nil, err
	}
	m, err := scene.Morphology(t.Problem.Grid.Voxel)
	if err != nil {
		return nil, nil, err
	}
	p, err := t.predict(ctx, m, scene)
	return m, p, err
}

// predict returns the detected pattern for the fields m of a scene, with its scale and
// background.
func (t *Task) predict(ctx context.Context, m *rsoxs.Morphology, s Scene) (*rsoxs.Pattern, error) {
	sim := t.Inversion.Sim.Clone()
	if err := sim.Transform(ctx, m); err != nil {
		return nil, err
	}
	optics, err := s.optics(t.Inversion.Optics)
	if err != nil {
		return nil, err
	}
	p, err := sim.Pattern(ctx, optics)
	if err != nil {
		return nil, err
	}
	flat := p.Intensity.Float64s()
	seen, err := ad.Numbers(s.measured(ad.Const(flat, len(flat)), momentaOf(p)))
	if err != nil {
		return nil, err
	}
	copy(p.Intensity.Data().([]float64), seen[0])
	return p, nil
}
