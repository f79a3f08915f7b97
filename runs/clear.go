// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/runlock"
)

// results are the names and patterns of the files that a run may leave, which Create removes when it replaces the run. A file that is missing here
// would be taken for one of the new run. The tests of commands hold every run folder against it.
var results = []string{CheckpointFile, ConfigFile, InputsFile, "fit.json", "fit.nc", "mode.json", "laplace.csv", "fits.csv", "curve.csv", "summary.json", "diagnose.txt", "report.html", "morphology.h5", "trace.csv", "measures.csv",
	"brain.snapshot", "profile.txt", "connectome.npz", "training.csv", "data.npz", "models.npz", "bootstrap-*.json",
	"nlsq/parameters.json", "nlsq/analysis_results_nlsq.json", "nlsq/convergence_metrics.json", "nlsq/fitted_data.npz",
	"cmc/parameters.json", "cmc/diagnostics.json", "cmc/samples.npz", "cmc/summary.csv",
	"chain-[0-9].csv", "chain-[0-9][0-9].csv", "chain-[0-9][0-9][0-9].csv", "plots/*.svg", "plots/*.png", "plots/*.figure", "snapshots/*.snapshot",
	"live/chain-[0-9].csv", "live/chain-[0-9][0-9].csv", "live/chain-[0-9][0-9][0-9].csv", "live/progress.json"}

// result reports whether a run may leave a file, which has a path below its folder with slashes.
func result(name string) bool {
	return slices.ContainsFunc(results, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// Others lists the files below the folder that Create leaves there when it replaces the run: those that no run makes.
func (f Folder) Others() (all []string, err error) {
	err = fs.WalkDir(os.DirFS(string(f)), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == DrawsFolder:
			return fs.SkipDir
		case !d.IsDir() && name != MarkerFile && name != runlock.Name && !result(name):
			all = append(all, name)
		}
		return nil
	})
	return all, err
}

// clear removes everything that a run may have left, and nothing else.
func (f Folder) clear() error {
	if store := f.Path(DrawsFolder); zarr.Is(store) {
		if err := os.RemoveAll(store); err != nil {
			return err
		}
	}
	for _, pattern := range results {
		found, err := fs.Glob(os.DirFS(string(f)), pattern)
		if err != nil {
			return err
		}
		for _, name := range found {
			if err := os.Remove(f.Path(filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	for _, folder := range []string{"nlsq", "cmc", LiveFolder} { // those that hold something else stay
		_ = os.Remove(f.Path(folder))
	}
	return nil
}
