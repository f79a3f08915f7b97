// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/csv"
	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
)

// look says how people look at results of correlators, q maps, masks and runs of two-time correlations.
func look(name string, folder bool) *frame.Look {
	if folder {
		return lookAtRun(runs.Folder(name))
	}
	if frame.Ends(name, ".imm") {
		return lookAtFrames(name)
	}
	if frame.Ends(name, ".csv", ".txt", ".dat") {
		return lookAtCurves(name)
	}
	if !frame.Ends(name, ".hdf", ".h5", ".hdf5", ".nxs") {
		return nil
	}
	f, err := hdf5.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	multitau, twotime := f.Has("/xpcs/multitau"), f.Has("/xpcs/twotime")
	switch {
	case multitau || twotime:
		l := &frame.Look{Kind: "Correlations", Together: &frame.Look{Works: []string{"fit g2", "average"}}}
		for _, p := range report.Results() {
			if p.Together != nil {
				l.Together.Pictures = append(l.Together.Pictures, frame.Plotted(p.Short, p.Kind))
			}
			if p.Kind == "twotime" && !twotime || p.Kind == "g2" && !multitau {
				continue
			}
			l.Pictures = append(l.Pictures, frame.Plotted(p.Short, p.Kind, name))
		}
		l.Pictures = append(l.Pictures, qmapSights(name)...)
		if multitau {
			l.Works = append(l.Works, "fit g2", "sample g2")
		}
		if twotime {
			l.Works = append(l.Works, "fit twotime", "sample twotime")
		}
		return l
	case f.Has("/qmap"):
		return &frame.Look{Kind: "Q maps", Pictures: qmapSights(name)}
	}
	if !slices.ContainsFunc([]string{"/entry/data/data", "/entry/instrument", "/exchange/data", "/frames"}, f.Has) {
		return nil
	}
	return lookAtFrames(name)
}

// mostCurves is the size of tables up to which they are read to find out whether they hold g2, in bytes.
const mostCurves = 16 << 20

// lookAtCurves says how people look at tables of g2, or returns nil for other tables.
func lookAtCurves(name string) *frame.Look {
	if info, err := os.Stat(name); err != nil || info.Size() > mostCurves || runs.Folder(filepath.Dir(name)).Ours() {
		return nil
	}
	t, err := csv.Open(name)
	if err != nil || t.Len() == 0 {
		return nil
	}
	columns := frame.Plotted("Columns of the table", "table", name)
	if slices.Min(t.Tau) > 0 {
		columns.Args = append(columns.Args, "--log-x") // delays span decades
	}
	return &frame.Look{Kind: "Tables of g2", Table: true, Works: []string{"fit g2", "sample g2"}, Pictures: []frame.Sight{columns},
		Together: &frame.Look{Works: []string{"fit g2"}}}
}

// lookAtFrames says how people look at the frames of a detector, or returns nil if there are none.
func lookAtFrames(name string) *frame.Look {
	f, err := frames.Open(name, frames.Settings{})
	if err != nil || f.Frames == 0 {
		return nil
	}
	f.Close()
	single := frame.Plotted("Single frames", "frames", name, "--frame=1")
	single.Sliders = []frame.Range{{Flag: "frame", Low: 1, High: f.Frames}}
	return &frame.Look{Kind: "Frames", Works: []string{"correlate"}, Pictures: []frame.Sight{frame.Plotted("Mean of the frames", "frames", name), single}}
}

func qmapSights(name string) (all []frame.Sight) {
	for _, p := range report.QMaps() {
		all = append(all, frame.Plotted(p.Short, p.Kind, name))
	}
	return all
}

// lookAtRun says how people look at a fit of two-time correlations, which has pictures of its own beside those of draws.
func lookAtRun(dir runs.Folder) *frame.Look {
	if command, err := dir.Command(); err != nil || command != fitTwotimeCommand || !foreign.Exists(dir.Path("data.npz")) {
		return nil
	}
	l := &frame.Look{Kind: "Fits", Texts: frame.FitTexts(dir), Pictures: []frame.Sight{frame.Plotted("Data, model and residuals", "twotime", string(dir))}}
	if !foreign.Exists(dir.Path("plots", "lags.figure")) { // the same diagonals, as the fit drew them
		l.Pictures = append(l.Pictures, frame.Sight{Title: "Diagonals", Args: []string{"plot", "twotime", string(dir), "--diagonals"}})
	}
	return l
}
