// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/runs"
)

// look says how people look at morphologies and at folders of simulated patterns.
func look(name string, folder bool) *frame.Look {
	switch {
	case folder:
		if l := lookAtPatterns(name); l != nil {
			return l
		}
		if frame.Ends(name, ".zarr") && !runs.Folder(filepath.Dir(name)).Ours() || scatterFolder(name) { // those of runs hold draws
			return lookAtMeasured(name)
		}
		return nil
	case frame.Ends(name, ".json"):
		if info, err := os.Stat(name); err != nil || info.Size() > mostProblem {
			return nil
		}
		if b, err := foreign.ReadFile(name); err == nil {
			if d, _ := foreign.DocumentOf(b); d == foreign.MorphologyProblem {
				return &frame.Look{Kind: "Problems", Content: true, Works: []string{invertCommand}}
			}
		}
		return nil
	case frame.Ends(name, ".h5", ".hdf5", ".hdf"):
		if l := lookAtMorphology(name); l != nil {
			return l
		}
	}
	if !runs.Folder(filepath.Dir(name)).Ours() && scatter.Tabulated(name) {
		return &frame.Look{Kind: "Measured patterns", Table: true, Pictures: []frame.Sight{frame.Plotted("Measured curves", "measured", name), frame.Plotted("Columns of the table", "table", name)}}
	}
	if frame.Ends(name, ".tif", ".tiff", ".nc", ".h5", ".hdf5", ".nxs", ".fits", ".fit") && !scatterFolder(filepath.Dir(name)) {
		return lookAtMeasured(name)
	}
	return nil
}

// lookAtPatterns looks at the folder of a simulation, and at one of images that another program computed.
func lookAtPatterns(name string) *frame.Look {
	single := frame.Plotted("One energy", "pattern", name, "--number=1")
	number := frame.Range{Flag: "number", Low: 1}
	if foreign.Exists(runs.Folder(name).Path(morph.SimulationRecordFile)) {
		if r, err := morph.ReadSimulationRecord(name); err == nil && r != nil {
			number.High = len(r.Energies)
		}
	} else {
		files, err := morph.PatternFiles([]string{name})
		if err != nil || foreign.Exists(runs.Folder(filepath.Dir(name)).Path(morph.SimulationRecordFile)) {
			return nil
		}
		number.High = len(files)
	}
	if number.High > 0 {
		single.Sliders = []frame.Range{number}
	}
	return &frame.Look{Kind: "Scattering patterns", Works: []string{"reduce rsoxs"}, Pictures: []frame.Sight{
		frame.Plotted("Scattering patterns", "pattern", name), single, frame.Plotted("Cuts through the centre", "pattern", name, "--cuts")}}
}

func lookAtMorphology(name string) *frame.Look {
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
		frame.Plotted("Slice across x", "morphology", name, "--slice=x"), frame.Plotted("Directors in three dimensions", "volume", name), {Title: "Histograms of the volume", Args: []string{"plot", "morphology", name, "--histograms"}, Still: true}}}
}

// mostProblem is the largest size of a file that is taken for a problem, in bytes.
const mostProblem = 16 << 20

// mostMeasured is the size of measured patterns that are counted when they are listed, in bytes; larger ones have no slider.
const mostMeasured = 32 << 20

// lookAtMeasured looks at measured patterns, which are asked for after everything else that such files can be.
func lookAtMeasured(name string) *frame.Look {
	if !scatter.Recognised(name) {
		return nil
	}
	sight := frame.Plotted("Measured patterns", "measured", name, "--number=1")
	if sizeOf(name) < mostMeasured {
		set, err := scatter.Open(name, scatter.Settings{Unplaced: true})
		if err != nil && !frame.Ends(name, ".tif", ".tiff") { // an image may need settings
			return nil
		}
		if n := set.Patterns(); n > 1 {
			sight.Sliders = []frame.Range{{Flag: "number", Low: 1, High: n}}
		}
	}
	return &frame.Look{Kind: "Measured patterns", Pictures: []frame.Sight{sight}}
}

// sizeOf is the size of a file, or of the files in a folder as far as it matters, in bytes.
func sizeOf(name string) (n int64) {
	filepath.WalkDir(name, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			n += info.Size()
		}
		if n >= mostMeasured {
			return fs.SkipAll
		}
		return nil
	})
	return n
}

// scatterFolder reports whether a folder is a measurement, whose files are then not listed one by one.
func scatterFolder(name string) bool {
	found, _ := filepath.Glob(filepath.Join(name, "*primary*.tif*"))
	return len(found) > 0
}
