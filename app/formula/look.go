// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/runs"
)

// look says how people look at problem files and at tables.
func look(name string, folder bool) *frame.Look {
	switch {
	case folder:
		return nil
	case isProblem(name):
		return &frame.Look{Kind: "Problems", Content: true, Works: []string{"fit nlsq", "sample expr"}}
	case frame.Ends(name, ".csv", ".tsv", ".xlsx") && (slices.Contains(ofFits, filepath.Base(name)) || !ofRun(filepath.Dir(name))):
		return &frame.Look{Kind: "Tables", Table: true, Pictures: []frame.Sight{frame.Plotted("Columns of the table", "table", name)}}
	}
	return nil
}

// ofFits are tables of fits that people look at.
var ofFits = []string{frame.FitsFile, "curve.csv"}

// ofRun reports whether a folder is that of a run, or one that a run makes below its own: their tables of draws and measures have pictures of
// their own.
func ofRun(dir string) bool {
	switch filepath.Base(dir) {
	case runs.LiveFolder, "cmc", "nlsq", "plots":
		dir = filepath.Dir(dir)
	}
	return runs.Folder(dir).Ours()
}
