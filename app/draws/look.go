// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// look says how people look at any run folder: by its draws, if it has any, and otherwise by the pictures that the run made.
func look(name string, folder bool) *frame.Look {
	dir := runs.Folder(name)
	if !folder || !dir.Ours() {
		return nil
	}
	if foreign.Exists(dir.Path(runs.DrawsFolder)) || foreign.Exists(dir.Path("chain-1.csv")) || foreign.Exists(dir.Path(runs.LiveFolder, "chain-1.csv")) {
		return &frame.Look{Kind: "Runs", Pictures: frame.DrawSights(name), Texts: frame.DrawTexts(name), Together: frame.DrawsTogether()}
	}
	if foreign.Exists(dir.Path(runs.CheckpointFile)) {
		return &frame.Look{Kind: "Runs"}
	}
	for _, name := range []string{"report.html", "fit.json", frame.FitsFile, runs.ConfigFile} { // a bootstrap that goes on has its settings only
		if foreign.Exists(dir.Path(name)) {
			return &frame.Look{Kind: "Fits", Texts: frame.FitTexts(dir), Table: foreign.Exists(dir.Path(frame.FitsFile))}
		}
	}
	return nil
}
