// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
)

// invertConfig is the content of config.json for invert rsoxs.
type invertConfig struct {
	draws.ChainConfig
	Base     string         `json:"base"` // folder that the problem's relative paths refer to
	Problem  *morph.Problem `json:"problem"`
	Restarts int            `json:"restarts"`
	Zarr     bool           `json:"zarr,omitempty"` // whether fit.zarr is written beside fit.nc

	warmupGiven, drawsGiven, acceptGiven bool
	ofChains                             string // a flag that only chains have, if one is given
	restartsGiven                        bool
	choose                               int     // number of energies to choose, 0 to fit
	time                                 float64 // s, to be divided among them
}

const invertCommand = "invert rsoxs"

func invertRSoXS(a *frame.App) *cobra.Command {
	var cfg invertConfig
	c := &cobra.Command{
		Use:   "rsoxs PROBLEM.json",
		Short: "Recover the parameters of a morphology from scattering patterns",
		Long: `Find the parameters of a morphology from scattering patterns: by least squares
with exact derivatives (method lm), by L-BFGS (lbfgs), as a posterior by NUTS
(nuts), or voxels from nothing by projections (phase). The problem is a JSON
file. Paths in it are relative to its folder.

  {"model": "core_shell", "grid": {"shape": [16, 48, 48], "voxel": 2.5},
   "parameters": {"radius": {"start": 10, "bounds": [2, 20]},
                  "shell": {"start": 11, "prior": "normal(10, 3)"},
                  "aligned": {"start": 0.25, "bounds": [0, 1]}},
   "fixed": {"z": 19.3}, "data": "HDF5", "mask": {"q": [0.05, 0.6]},
   "constants": ["Material1.txt", "Material2.txt"],
   "angles": [0, 30, 150], "rot_mask": true, "sigma": 0.1, "method": "nuts"}

"data" is a folder of Energy_*.h5 files, or an NPY file together with
"energies". "constants" has one entry per material: a file, "vacuum", or rows of
[DeltaPara, BetaPara, DeltaPerp, BetaPerp], one per energy. "config":
"config.txt" can replace angles and rot_mask. The other keys are listed in
https://github.com/euryale-dev/euryale/blob/main/docs/CLI.md.
Data may be measured, on the pixels of a detector: files of xarray (netCDF or
Zarr), NeXus, TIFF folders and others. Then "masks", "geometry" and the like say
what the files do not, and effects of the measurement are parameters:

  {"model": "core_shell", "grid": {"shape": [34, 36, 38], "voxel": 1.8},
   "options": {"matrix": true}, "data": "scan.nc", "masks": ["mask.npy"],
   "parameters": {"radius": {"start": 11}, "shell": {"start": 9},
                  "aligned": {"start": 0.5}, "log_scale": {}, "centre_x": {},
                  "centre_y": {}, "resolution": {}, "background": {}},
   "constants": ["core.txt", "shell.txt", "matrix.txt"]}

The models and their parameters (in nm and degrees) are:
` + frame.Indent(morph.ProblemModels()) + `
Results go to a run folder: fit.json and the table fits.csv, or draws, pictures
and report.html. Ctrl-C saves the best point so far, and --resume continues,
with --draws N until chains have N draws.

  euryale invert rsoxs particle.json
  euryale invert rsoxs particle.json --out run --json
  euryale invert rsoxs --resume run
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case a.Resume != "":
				return resumeInvert(a, c, args)
			case len(args) == 0:
				return exit.Usage("invert rsoxs needs PROBLEM.json, or --resume RUN")
			}
			if cfg.choose == 0 {
				if err := frame.Ignored(c, "--choose-energies", "time"); err != nil {
					return err
				}
			}
			cfg.File = args[0]
			for _, name := range []string{"chains", "warmup", "draws", "target-accept", "max-tree-depth", "retries", "coordinates"} {
				if c.Flags().Changed(name) {
					cfg.ofChains = name
				}
			}
			cfg.warmupGiven, cfg.drawsGiven, cfg.acceptGiven = c.Flags().Changed("warmup"), c.Flags().Changed("draws"), c.Flags().Changed("target-accept")
			cfg.restartsGiven = c.Flags().Changed("restarts")
			return startInvert(c.Context(), a, cfg)
		},
	}
	cfg.Add(c, draws.DefaultChains(setting.Sampler{}))
	c.Flags().BoolVar(&cfg.Zarr, "zarr", false, "write fit.zarr beside fit.nc, for measured patterns")
	c.Flags().IntVar(&cfg.choose, "choose-energies", 0, "choose this many photon energies for a measurement, from the tables of constants, and do not fit")
	c.Flags().Float64Var(&cfg.time, "time", 600, "exposure in s that --choose-energies divides among them")
	c.Flags().IntVar(&cfg.Restarts, "restarts", 6, "number of further starting points if the fit does not describe the patterns; of measured ones, those that are tried in any case, and without the flag 2 if needed")
	return c
}

func startInvert(ctx context.Context, a *frame.App, cfg invertConfig) error {
	if err := cfg.Check(); err != nil {
		return err
	}
	b, err := foreign.ReadFile(cfg.File, ".yaml", ".yml", ".json")
	if err != nil {
		return exit.Input(err)
	}
	if cfg.Problem, err = morph.ParseProblemIn(b, filepath.Dir(cfg.File)); err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", cfg.File, err))
	}
	switch measured := cfg.Problem.Measured(); {
	case cfg.ofChains != "" && cfg.Problem.Method != "nuts":
		return exit.Usage("--%s is for chains, and the problem asks for none: give it \"method\": \"nuts\", or leave the flag out", cfg.ofChains)
	case cfg.choose > 0 && !measured:
		return exit.Usage("--choose-energies plans a measurement, and %s is about simulated patterns: leave out its data, and give geometry, pixels and the like, as docs/guide/scattering.md shows", cfg.File)
	case cfg.restartsGiven && measured && (cfg.choose > 0 || cfg.Problem.Method == "phase"):
		return exit.Usage("--restarts is for fits from starting values, and this run has none: leave it out")
	case cfg.Zarr && !measured:
		return exit.Usage("--zarr is for measured patterns: leave it out")
	}
	cfg.Command, cfg.Version, cfg.Seed, cfg.File = invertCommand, frame.Version(), a.Seed, frame.Absolute(cfg.File)
	cfg.Base = filepath.Dir(cfg.File)
	if err := cfg.Problem.ReadStarts(cfg.Base); err != nil {
		return exit.Input(err)
	}
	out := a.Out
	if out == "" {
		out = "run-" + strings.TrimSuffix(filepath.Base(cfg.File), ".json")
	}
	switch {
	case cfg.Problem.Measured() && cfg.Problem.Method == "phase":
		return invertPhases(ctx, a, &cfg, out, "")
	case cfg.Problem.Measured():
		return startMeasured(ctx, a, &cfg, out)
	}
	v, err := openInversion(a, &cfg)
	if err != nil {
		return err
	}
	if v.dir, err = a.MakeRundir(out); err != nil {
		return err
	}
	if v.Method == "nuts" {
		if err := startChains(ctx, a, v); err != nil {
			return err
		}
	} else if with := withPriors(cfg.Problem); with != nil {
		a.Note("priors (of %s) are used by posteriors alone, with \"method\": \"nuts\": %s finds what fits the patterns best", strings.Join(with, ", "), v.Method)
	}
	if err := a.Begin(v.dir, invertCommand, cfg, cfg.Problem.Files(cfg.Base)...); err != nil {
		return err
	}
	return solve(ctx, a, v, "", nil)
}

func resumeInvert(a *frame.App, c *cobra.Command, args []string) error {
	var cfg invertConfig
	dir, err := cfg.Reopen(a, c, invertCommand, args, &cfg)
	if err != nil {
		return err
	}
	if cfg.Problem == nil {
		return exit.With(exit.Config, fmt.Errorf("%s records no problem", dir.Path("config.json")))
	}
	b, err := json.Marshal(cfg.Problem)
	if err != nil {
		return exit.With(exit.Bug, err)
	}
	if cfg.Problem, err = morph.ParseProblem(b); err != nil {
		return exit.With(exit.Config, fmt.Errorf("%s: %w", dir.Path("config.json"), err))
	}
	if cfg.Problem.Method != "nuts" && c.Flags().Changed("draws") {
		return exit.Usage("--draws is for chains, and the run in %s has none: leave the flag out", dir)
	}
	if err := a.GoOnWhere(cfg.Device); err != nil {
		return err
	}
	if err := frame.Unchanged(dir); err != nil {
		return err
	}
	switch {
	case cfg.Problem.Measured() && cfg.Problem.Method == "phase":
		return invertPhases(c.Context(), a, &cfg, "", dir)
	case cfg.Problem.Measured():
		return resumeMeasured(c.Context(), a, &cfg, dir)
	}
	v, err := openInversion(a, &cfg)
	if err != nil {
		return err
	}
	v.dir = dir
	checkpoint := dir.Path("checkpoint")
	if !foreign.Exists(checkpoint) {
		checkpoint = ""
	}
	start, err := v.lastPoint()
	if err != nil {
		return err
	}
	return solve(c.Context(), a, v, checkpoint, start)
}

// lastPoint returns the parameters that an earlier run reached, or nil if there are none.
func (v *inversion) lastPoint() ([]float64, error) {
	var doc InvertDoc
	err := runs.ReadJSON(v.dir.Path("fit.json"), &doc)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.As(err, new(*fs.PathError)):
		return nil, exit.Input(err)
	case err != nil:
		return nil, &exit.Error{Code: exit.Data, Err: err, Hint: "restore the file, or remove it to begin at the start of the inversion"}
	}
	v.spent = doc.NFev
	var x []float64
	for _, n := range v.Names() {
		p, ok := doc.X[n]
		if !ok {
			return nil, exit.With(exit.Data, fmt.Errorf("%s has no %s", v.dir.Path("fit.json"), n))
		}
		x = append(x, float64(p))
	}
	return x, nil
}

// solve runs the problem's method, resuming from the checkpoint if there is one.
func solve(ctx context.Context, a *frame.App, v *inversion, checkpoint string, start []float64) error {
	if v.Method == "nuts" {
		return sampleInversion(ctx, a, v, checkpoint)
	}
	v.StartAt(start)
	r, err := fitInversion(ctx, a, v)
	if r == nil {
		return err
	}
	doc := v.document(r)
	if err := a.Patiently(ctx, func() error { return frame.Outputs{Folder: v.dir}.SaveParameters(a, doc) }); err != nil {
		return err
	}
	again := "euryale " + invertCommand + " --resume " + foreign.Typed(string(v.dir))
	switch {
	case err != nil: // a GPU failed
		return &exit.Error{Code: exit.CodeOf(err), Err: fmt.Errorf("%w\nthe best point so far is kept in %s", err, v.dir), Hint: again + ", with --device cpu to leave the GPU"}
	case ctx.Err() != nil:
		return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted; the best point so far is kept in %s", v.dir), Hint: again}
	}
	if !v.cfg.NoReport {
		err := a.WhileWaiting("drawing the report", func() error { return saveInversion(ctx, a, v, r.X, report.Parameters(v.Names(), r), nil, r.Check) })
		if err != nil {
			return err
		}
	}
	if a.JSON {
		err = a.Document(doc)
	} else {
		_, err = fmt.Fprintf(a.Stdout, "%s%s\n", v.lines(r), draws.WithLimit(r.Status, r.Status.Message()))
		if err == nil {
			err = a.PrintVerdict(doc.Check, doc.Warnings, nil)
		}
		if err == nil {
			_, err = fmt.Fprintf(a.Stdout, "results in %s\n", v.dir)
		}
	}
	switch {
	case err != nil:
		return exit.With(exit.CannotWrite, err)
	case a.Strict && !r.Status.Converged():
		return exit.With(exit.Failed, fmt.Errorf("the fit did not converge: %s", draws.WithLimit(r.Status, r.Status.Message())))
	case a.Strict:
		return frame.Strictly(r.Check)
	}
	return nil
}

// withPriors lists the parameters that have a prior.
func withPriors(p *morph.Problem) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
		if p.Parameters[name].Prior != "" {
			names = append(names, name)
		}
	}
	return names
}
