// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// look says how people look at runs that sampled a star, which have a picture of the star beside those of draws.
func look(name string, folder bool) *frame.Look {
	dir := runs.Folder(name)
	if !folder {
		return nil
	}
	if command, err := dir.Command(); err != nil || command != sampleCommand || !foreign.Exists(dir.Path("summary.json")) {
		return nil
	}
	return &frame.Look{Kind: "Runs", Pictures: append([]frame.Sight{frame.Plotted("Spectra, model and residuals", "spectrum", name)}, frame.DrawSights(name)...), Texts: frame.DrawTexts(name)}
}
