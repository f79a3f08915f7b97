// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/runs"
)

// look says how people look at morphologies and at folders of simulated patterns.
func look(name string, folder bool) *frame.Look {
	if folder {
		if !foreign.Exists(runs.Folder(name).Path(morph.SimulationRecordFile)) {
			return nil
		}
		patterns := frame.Plotted("Scattering patterns", "pattern", name)
		cuts := frame.Plotted("Cuts through the centre", "pattern", name, "--cuts")
		single := frame.Plotted("One energy", "pattern", name, "--number=1")
		if r, err := morph.ReadSimulationRecord(name); err == nil && r != nil {
			single.Sliders = []frame.Range{{Flag: "number", Low: 1, High: len(r.Energies)}}
		}
		return &frame.Look{Kind: "Scattering patterns", Pictures: []frame.Sight{patterns, single, cuts}}
	}
	if !frame.Ends(name, ".h5", ".hdf5", ".hdf") {
		return nil
	}
	f, err := hdf5.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if !cyrsoxs.IsMorphology(f) {
		return nil
	}
	return &frame.Look{Kind: "Morphologies", Works: []string{"sim rsoxs"}, Pictures: []frame.Sight{
		frame.Plotted("Slice across z", "morphology", name, "--slice=z"), frame.Plotted("Slice across y", "morphology", name, "--slice=y"),
		frame.Plotted("Slice across x", "morphology", name, "--slice=x"), frame.Plotted("Directors in three dimensions", "volume", name), frame.Plotted("Histograms of the volume", "morphology", name, "--histograms")}}
}
