// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/euryale-dev/euryale/data/zarr"
)

// results lists the files and the file-name patterns that a run may leave.
var results = []string{CheckpointFile, ConfigFile, "fit.json", "summary.json", "diagnose.txt", "report.html", "morphology.h5", "trace.csv", "measures.csv",
	"brain.snapshot", "profile.txt", "connectome.npz", "training.csv", "data.npz",
	"nlsq/parameters.json", "nlsq/analysis_results_nlsq.json", "nlsq/convergence_metrics.json", "nlsq/fitted_data.npz",
	"cmc/parameters.json", "cmc/diagnostics.json", "cmc/samples.npz", "cmc/summary.csv"}

var manyResults = []string{"chain-[0-9].csv", "chain-[0-9][0-9].csv", "chain-[0-9][0-9][0-9].csv", "plots/*.svg", "plots/*.png", "snapshots/*.snapshot", "live/chain-[0-9].csv", "live/chain-[0-9][0-9].csv", "live/chain-[0-9][0-9][0-9].csv", "live/progress.json"}

// clear removes everything that a run may have left, and nothing else.
func (f Folder) clear() error {
	old := slices.Clone(results)
	for _, pattern := range manyResults {
		found, err := fs.Glob(os.DirFS(string(f)), pattern)
		if err != nil {
			return err
		}
		old = append(old, found...)
	}
	if store := f.Path(DrawsFolder); zarr.Is(store) {
		if err := os.RemoveAll(store); err != nil {
			return err
		}
	}
	for _, file := range old {
		if err := os.Remove(f.Path(file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, folder := range []string{"nlsq", "cmc", LiveFolder} { // those that hold something else stay
		_ = os.Remove(f.Path(folder))
	}
	return nil
}
