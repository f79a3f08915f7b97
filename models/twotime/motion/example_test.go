// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion_test

import (
	"context"
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/models/twotime/motion"
)

// This example fits the motion that a configuration describes, diffusion in a sheared sample, to
// simulated correlations at three angles.
func Example() {
	ctx := context.Background()
	config, err := homodyne.ParseConfig([]byte(`
analysis_mode: laminar_flow
analyzer_parameters: {dt: 0.1, start_frame: 1, scattering: {wavevector_q: 0.0054}}
initial_parameters: {fixed_parameters: {D_offset: 0, gamma_dot_t_offset: 0}}
`), "flow.yaml")
	if err != nil {
		log.Fatal(err)
	}
	const frames = 40
	times := config.Clock.Times(1, frames, config.Step)
	setup := motion.Setup(config, config.Q, []float64{0, 45, 90}, times, config.Step)
	data, err := twotime.Simulate(ctx, setup, twotime.Sample{Theta: []float64{12000, -0.2, 0, 5e-4, 0.2, 0, 4},
		Contrast: []float64{0.5, 0.5, 0.5}, Offset: []float64{1, 1, 1}, Speckles: 3000, Seed: 6})
	if err != nil {
		log.Fatal(err)
	}
	// Open reads the correlations that New takes here from the file that the configuration names.
	p, err := motion.New(config, &homodyne.Correlation{Q: config.Q, Phi: setup.Angles, First: 1, Last: frames, Step: config.Step, C2: data.C2}, times)
	if err != nil {
		log.Fatal(err)
	}
	fit, err := p.Fit(ctx, motion.FitSettings{Starts: 2, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range fit.Rows() {
		if !row.Fixed {
			fmt.Printf("%s: %.2g +- %.1g\n", row.Name, row.Value, row.SD)
		}
	}
	// Output:
	// D0: 1.3e+04 +- 1e+03
	// alpha: -0.21 +- 0.08
	// gamma_dot_t0: 0.00048 +- 1e-05
	// beta: 0.24 +- 0.02
	// phi0: 3.2 +- 1
}
