// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/report"
)

// invertConfig is the content of config.json for invert rsoxs.
type invertConfig struct {
	chainConfig
	Base     string         `json:"base"` // folder that the problem's relative paths refer to
	Problem  *morph.Problem `json:"problem"`
	Restarts int            `json:"restarts"`
}

const invertCommand = "invert rsoxs"

func (a *app) invertRSoXS() *cobra.Command {
	var cfg invertConfig
	c := &cobra.Command{
		Use:   "rsoxs PROBLEM.json",
		Short: "Recover the parameters of a morphology from scattering patterns",
		Long: `Find the parameters of a morphology from scattering patterns: by least squares
with exact derivatives (method lm), by L-BFGS (lbfgs), or as a posterior by NUTS
(nuts). The problem is a JSON file. Paths in it are relative to its folder.

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
The models and their parameters (in nm and degrees) are:
` + indent(morph.ProblemModels()) + `
Results go to a run folder: fit.json or draws, pictures and report.html. Ctrl-C
saves the best point so far, and --resume continues from it.

  euryale invert rsoxs particle.json
  euryale invert rsoxs particle.json --out run --json
  euryale invert rsoxs --resume run
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case a.resume != "":
				return a.resumeInvert(c, args)
			case len(args) == 0:
				return usage("invert rsoxs needs PROBLEM.json, or --resume RUN")
			}
			cfg.File = args[0]
			return a.startInvert(c.Context(), cfg)
		},
	}
	cfg.add(c, defaultChains(0))
	c.Flags().IntVar(&cfg.Restarts, "restarts", 6, "number of further starting points if the fit does not describe the data")
	return c
}

func (a *app) startInvert(ctx context.Context, cfg invertConfig) error {
	if err := cfg.check(); err != nil {
		return err
	}
	b, err := foreign.ReadFile(cfg.File)
	if err != nil {
		return input(err)
	}
	if cfg.Problem, err = morph.ParseProblem(b); err != nil {
		return as(exitData, fmt.Errorf("%s: %w", cfg.File, err))
	}
	cfg.Command, cfg.Version, cfg.Seed, cfg.File = invertCommand, version(), a.seed, absolute(cfg.File)
	cfg.Base = filepath.Dir(cfg.File)
	if err := cfg.Problem.ReadStarts(cfg.Base); err != nil {
		return input(err)
	}
	v, err := a.openInversion(&cfg)
	if err != nil {
		return err
	}
	out := a.out
	if out == "" {
		out = "run-" + strings.TrimSuffix(filepath.Base(cfg.File), ".json")
	}
	if v.dir, err = a.makeRundir(out); err != nil {
		return err
	}
	if v.Method == "nuts" {
		if err := a.startChains(ctx, v); err != nil {
			return err
		}
	}
	if err := a.begin(v.dir, invertCommand, cfg, cfg.Problem.Files(cfg.Base)...); err != nil {
		return err
	}
	return a.solve(ctx, v, "", nil)
}

func (a *app) resumeInvert(c *cobra.Command, args []string) error {
	var cfg invertConfig
	dir, err := a.reopen(c, invertCommand, args, &cfg, "threads")
	if err != nil {
		return err
	}
	if cfg.Problem == nil {
		return as(exitConfig, fmt.Errorf("%s records no problem", dir.Path("config.json")))
	}
	b, err := json.Marshal(cfg.Problem)
	if err != nil {
		return as(exitBug, err)
	}
	if cfg.Problem, err = morph.ParseProblem(b); err != nil {
		return as(exitConfig, fmt.Errorf("%s: %w", dir.Path("config.json"), err))
	}
	if err := a.goOnWhere(cfg.Device); err != nil {
		return err
	}
	if err := unchanged(dir); err != nil {
		return err
	}
	v, err := a.openInversion(&cfg)
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
	return a.solve(c.Context(), v, checkpoint, start)
}

// lastPoint returns the parameters that an earlier run reached, or nil if there are none.
func (v *inversion) lastPoint() ([]float64, error) {
	b, err := foreign.ReadFile(v.dir.Path("fit.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, input(err)
	}
	var doc invertDoc
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w", v.dir.Path("fit.json"), err))
	}
	var x []float64
	for _, n := range v.Names() {
		p, ok := doc.X[n]
		if !ok {
			return nil, as(exitData, fmt.Errorf("%s has no %s", v.dir.Path("fit.json"), n))
		}
		x = append(x, float64(p))
	}
	return x, nil
}

// solve runs the problem's method, resuming from the checkpoint if there is one.
func (a *app) solve(ctx context.Context, v *inversion, checkpoint string, start []float64) error {
	if v.Method == "nuts" {
		return a.sampleInversion(ctx, v, checkpoint)
	}
	v.StartAt(start)
	r, err := a.fitInversion(ctx, v)
	if r == nil {
		return err
	}
	doc := v.document(r)
	if err := a.patiently(ctx, func() error { return writeJSON(v.dir.Path("fit.json"), doc) }); err != nil {
		return err
	}
	again := "euryale " + invertCommand + " --resume " + foreign.Typed(string(v.dir))
	switch {
	case err != nil: // a GPU failed
		return &exitError{code: codeOf(err), err: fmt.Errorf("%w\nthe best point so far is kept in %s", err, v.dir), hint: again + ", with --device cpu to leave the GPU"}
	case ctx.Err() != nil:
		return &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted; the best point so far is kept in %s", v.dir), hint: again}
	}
	if !v.cfg.NoReport {
		if err := a.saveInversion(ctx, v, r.X, report.Parameters(v.Names(), r), nil, r.Check); err != nil {
			return err
		}
	}
	if a.json {
		err = a.document(doc)
	} else {
		_, err = fmt.Fprintf(a.stdout, "%s%s\n%s\n", v.lines(r), withLimit(r.Status, r.Status.Message()), r.Check.Summary())
		if err == nil {
			err = a.printVerdict(r.Check)
		}
		for _, w := range r.Warnings {
			fmt.Fprintf(a.stdout, "warning: %s\n", w)
		}
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "results in %s\n", v.dir)
		}
	}
	switch {
	case err != nil:
		return as(exitCannotWrite, err)
	case a.strict && !r.Status.Converged():
		return as(exitFailed, fmt.Errorf("the fit did not converge: %s", withLimit(r.Status, r.Status.Message())))
	case a.strict:
		return strictly(r.Check)
	}
	return nil
}
