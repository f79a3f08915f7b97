// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Flow is a simulated measurement of two-time correlations: particles that diffuse while the plates about them shear the sample.
type Flow struct {
	Setup     transport.Setup
	Sample    twotime.Sample
	FrameTime float64 // time from frame to frame in s
}

// Sheared returns the measurement that the demonstration simulates, with three azimuths: along the
// flow, between, and across it.
func Sheared(seed uint64) Flow {
	const frames, step = 60, 0.1
	return Flow{
		Setup: transport.Setup{Model: transport.Laminar, Times: homodyne.Clock{}.Times(1, frames, step), Q: 0.0054, Gap: 2e6, Angles: []float64{0, 45, 90}},
		Sample: twotime.Sample{Theta: []float64{12000, -0.2, 0, 5e-4, 0.2, 0, 4}, Contrast: []float64{0.2, 0.19, 0.18}, Offset: []float64{1, 1, 1},
			Speckles: 10_000, MeanCount: 0.5, Seed: seed},
		FrameTime: step,
	}
}

// flowConfig is a configuration as homodyne has it.
const flowConfig = `# A configuration of homodyne; euryale fit twotime and sample twotime read it.
analysis_mode: laminar_flow
analyzer_parameters:
  dt: %g
  start_frame: 1
  end_frame: -1
  scattering: {wavevector_q: %g}
  geometry: {stator_rotor_gap: %g}
experimental_data:
  file_path: flow.hdf
initial_parameters:
  parameter_names: [D0, alpha, D_offset, gamma_dot_t0, beta, gamma_dot_t_offset, phi0]
  values: [1000, 0, 0, 0.001, 0, 0, 0]
  fixed_parameters: {D_offset: 0, gamma_dot_t_offset: 0}
optimization:
  nlsq:
    anti_degeneracy: {per_angle_mode: individual}
  mcmc: {num_warmup: 300, num_samples: 500, num_chains: 4}
`

// Write simulates the measurement into a folder: flow.hdf in the layout of APS 8-ID, and flow.yaml, a configuration of homodyne.
func (f Flow) Write(ctx context.Context, dir string) error {
	d, err := twotime.Simulate(ctx, f.Setup, f.Sample)
	if err != nil {
		return err
	}
	c := homodyne.Correlation{Q: f.Setup.Q, Phi: f.Setup.Angles, First: 1, Last: len(f.Setup.Times), Step: f.FrameTime, C2: d.C2}
	if err := homodyne.Write(filepath.Join(dir, "flow.hdf"), homodyne.APSU, &c); err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, "flow.yaml"), fmt.Appendf(nil, flowConfig, f.FrameTime, f.Setup.Q, f.Setup.Gap))
}
