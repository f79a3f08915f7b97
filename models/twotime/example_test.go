// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime_test

import (
	"context"
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// This example simulates two-time correlations of a diffusing sample whose dynamics slow down, and
// fits the transport coefficient D0 t^alpha with errors that allow for entries that share a frame.
func Example() {
	ctx := context.Background()
	setup := transport.Setup{Model: transport.Static, Q: 0.0054, Angles: []float64{0}}
	for i := range 60 {
		setup.Times = append(setup.Times, 0.1*float64(i+1)) // in s
	}
	truth := []float64{40000, -0.4, 0} // D0, alpha and D_offset
	data, err := twotime.Simulate(ctx, setup, twotime.Sample{Theta: truth, Contrast: []float64{0.2}, Offset: []float64{1}, Speckles: 20000, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	settings := twotime.Settings{Fixed: []string{"D_offset"}}
	fit, err := twotime.FitLeastSquares(ctx, *data, settings)
	if err != nil {
		log.Fatal(err)
	}
	shared, err := fit.SharedErrors(ctx, *data, settings)
	if err != nil {
		log.Fatal(err)
	}
	for i, name := range fit.Names {
		fmt.Printf("%s: %.3g +- %.1g\n", name, fit.X[i], shared.SD[i])
	}
	// Output:
	// contrast_c0: 0.202 +- 0.001
	// offset_c0: 0.999 +- 0.001
	// D0: 3.88e+04 +- 7e+02
	// alpha: -0.413 +- 0.02
}
