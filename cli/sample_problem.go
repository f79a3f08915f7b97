// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/runs"
)

// problemRun is a sample command whose model comes from a problem file.
type problemRun struct {
	command string
	folder  string       // run folder for a problem read from standard input
	cfg     *chainConfig // chain settings, a pointer into config
	config  any          // content of config.json
	read    func(b []byte) error
	has     func() bool // reports whether config.json contains a problem
	model   func(ctx context.Context) (*infer.Model, error)
	// Chooses the starting points of the chains; nil starts them anywhere.
	starts   func(post *infer.Posterior) ([][]float64, error)
	sampling func(dir runs.Folder, post *infer.Posterior) sampling
}

// addProblem makes c the command that starts or resumes a problemRun.
func (cfg *chainConfig) addProblem(a *app, c *cobra.Command, r *problemRun) {
	c.Flags().StringVar(&cfg.File, "problem", "", "JSON file with the problem, or - for standard input")
	cfg.add(c, defaultChains(0))
	c.RunE = func(c *cobra.Command, _ []string) error {
		switch {
		case a.resume != "":
			return a.resumeProblem(c, r)
		case cfg.File == "":
			return usage("%s needs --problem FILE.json, or --resume RUN", r.command)
		}
		return a.startProblem(c.Context(), r)
	}
}

func (a *app) startProblem(ctx context.Context, r *problemRun) error {
	cfg := r.cfg
	if err := cfg.check(); err != nil {
		return err
	}
	b, err := readInput(cfg.File)
	if err != nil {
		return err
	}
	if err := r.read(b); err != nil {
		return as(exitData, fmt.Errorf("%s: %w", cfg.File, err))
	}
	post, err := r.compile(ctx, a, cfg.File)
	if err != nil {
		return err
	}
	if r.starts != nil {
		if cfg.Starts, err = r.starts(post); err != nil {
			return as(exitData, fmt.Errorf("%s: %w", cfg.File, err))
		}
	}
	dir, err := a.makeRundir(cmp.Or(a.out, problemFolder(cfg.File, r.folder)))
	if err != nil {
		return err
	}
	cfg.Command, cfg.Version, cfg.Seed, cfg.File, cfg.Device = r.command, version(), a.seed, absolute(cfg.File), post.Device()
	if err := a.begin(dir, r.command, r.config); err != nil {
		return err
	}
	return a.sampleInto(ctx, r.sampling(dir, post), "")
}

func (a *app) resumeProblem(c *cobra.Command, r *problemRun) error {
	*r.cfg = chainConfig{} // the run folder has all settings
	dir, err := a.reopen(c, r.command, nil, r.config, "threads")
	if err != nil {
		return err
	}
	file := dir.Path(runs.ConfigFile)
	if !r.has() {
		return as(exitConfig, fmt.Errorf("%s records no problem", file))
	}
	if err := a.goOnWhere(r.cfg.Device); err != nil {
		return err
	}
	post, err := r.compile(c.Context(), a, file)
	if err != nil {
		return err
	}
	return a.sampleInto(c.Context(), r.sampling(dir, post), a.checkpointOf(dir))
}

// compile builds the posterior of a problem. It may first fit a simulator.
func (r *problemRun) compile(ctx context.Context, a *app, file string) (*infer.Posterior, error) {
	m, err := r.model(ctx)
	if ctx.Err() != nil {
		return nil, &exitError{code: exitInterrupted, err: fmt.Errorf("interrupted before the chains began"), hint: "run the same command again"}
	}
	return a.compiled(file, m, err)
}

// compiled returns the posterior of the model that a file describes.
func (a *app) compiled(file string, m *infer.Model, err error) (*infer.Posterior, error) {
	if err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w", file, err))
	}
	post, err := m.CompileOn(a.backend(1))
	if err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w", file, err))
	}
	return post, nil
}
