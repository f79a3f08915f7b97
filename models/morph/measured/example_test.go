// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"context"
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// The size of a ball from its pattern, with the background that lies under it.
func Example() {
	grid := morph.Grid{Shape: [3]int{10, 10, 10}, Voxel: 2}
	data := &measured.Data{Detector: farfield.Detector{Rows: 12, Columns: 12, PixelY: 0.3, PixelX: 0.3}, Geometry: measured.Geometry{Distance: 10, PoniY: 1.8, PoniX: 1.8},
		Frames: []measured.Frame{{Energy: 284, Exposure: 10, Counts: make([]float64, 144)}}}
	model := &measured.Model{Data: data, Grid: grid, Tables: []measured.Table{{Energies: []float64{284}, Constants: []rsoxs.Constants{{DeltaPara: 1e-3, DeltaPerp: 1e-3}}}},
		Scene: func(at morph.Values) morph.Scene {
			ball := grid.Sphere(morph.Fixed(9, 9, 9), at("radius"))
			return morph.Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: morph.Inside(ball, 1)}}}
		}}
	truth := &measured.Task{Model: model, Params: []measured.Param{{Name: "radius", Start: 6}}, Fixed: map[string]float64{"log_scale": 12, "background": 2}}
	counts, err := truth.Means()
	if err != nil {
		panic(err)
	}
	copy(data.Frames[0].Counts, counts)
	task := &measured.Task{Model: model, Params: []measured.Param{{Name: "radius", Start: 5}, {Name: "log_scale", Start: 11}, {Name: "background", Start: 1}}, Backend: ad.CPU{Threads: 1}}
	s, err := task.Fit(context.Background(), optim.Settings{})
	if err != nil {
		panic(err)
	}
	for i, name := range s.Names {
		fmt.Printf("%s %.3f\n", name, s.X[i])
	}
	// Output:
	// radius 6.000
	// log_scale 12.000
	// background 2.000
}
