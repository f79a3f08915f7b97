// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/runs"
)

// ProblemRun is a sample command whose model comes from a problem file.
type ProblemRun struct {
	Command string
	Folder  string       // run folder for a problem read from standard input
	Inputs  []string     // files that were read, whose content is part of config.json; resuming says which has changed since
	Chain   *ChainConfig // chain settings, a pointer into config
	Config  any          // content of config.json
	Read    func(b []byte) error
	Has     func() bool // reports whether config.json contains a problem
	Model   func(ctx context.Context) (*infer.Model, error)
	// Chooses the starting points of the chains; nil starts them anywhere.
	Starts   func(post *infer.Posterior) ([][]float64, error)
	Sampling func(dir runs.Folder, post *infer.Posterior) Sampling
}

// AddProblem makes c the command that starts or resumes a run of a problem.
func (cfg *ChainConfig) AddProblem(a *frame.App, c *cobra.Command, r *ProblemRun) {
	c.Flags().StringVar(&cfg.File, "problem", "", "JSON file with the problem, or - for standard input")
	cfg.Add(c, DefaultChains(setting.Sampler{}))
	c.Args = cobra.MaximumNArgs(1) // the file may be given without the flag
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			if cfg.File != "" {
				return exit.Usage("%s and --problem %s: give one of them", args[0], cfg.File)
			}
			cfg.File = args[0]
		}
		switch {
		case a.Resume != "" && len(args) == 1:
			return exit.Usage("--resume %s has the problem: leave out %s", a.Resume, args[0])
		case a.Resume != "":
			return r.Resume(a, c)
		case cfg.File == "":
			return exit.Usage("%s needs --problem FILE.json, or --resume RUN", r.Command)
		}
		return startProblem(c.Context(), a, r)
	}
}

func startProblem(ctx context.Context, a *frame.App, r *ProblemRun) error {
	cfg := r.Chain
	if err := cfg.Check(); err != nil {
		return err
	}
	b, err := frame.ReadInput(cfg.File, ".json")
	if err != nil {
		return err
	}
	if cfg.File != "-" {
		r.Inputs = []string{cfg.File}
	}
	if err := r.Read(b); err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", cfg.File, err))
	}
	return r.Start(ctx, a)
}

// Start begins a run of a problem that has been read.
func (r *ProblemRun) Start(ctx context.Context, a *frame.App) error {
	cfg := r.Chain
	post, err := r.compile(ctx, a, cfg.File)
	if err != nil {
		return err
	}
	if r.Starts != nil {
		if cfg.Starts, err = r.Starts(post); err != nil {
			return exit.With(exit.Data, fmt.Errorf("%s: %w", cfg.File, err))
		}
	}
	dir, err := a.MakeRundir(cmp.Or(a.Out, problemFolder(cfg.File, r.Folder)))
	if err != nil {
		return err
	}
	cfg.Command, cfg.Version, cfg.Seed, cfg.File, cfg.Device = r.Command, frame.Version(), a.Seed, frame.Absolute(cfg.File), post.Device()
	if err := a.Begin(dir, r.Command, r.Config, r.Inputs...); err != nil {
		return err
	}
	return SampleInto(ctx, a, r.Sampling(dir, post), "")
}

// Resume goes on with the run of --resume.
func (r *ProblemRun) Resume(a *frame.App, c *cobra.Command) error {
	dir, err := r.Chain.Reopen(a, c, r.Command, nil, r.Config)
	if err != nil {
		return err
	}
	file := dir.Path(runs.ConfigFile)
	if !r.Has() {
		return exit.With(exit.Config, fmt.Errorf("%s records no problem", file))
	}
	if changed := (*runs.ChangedError)(nil); errors.As(dir.Unchanged(), &changed) {
		was, is := runs.Change(changed.Was, changed.Is, changed.Err)
		a.Note("%s had %s when the run in %s began, and %s: the run goes on with the content that it began with", changed.Was.Name, was, dir, is)
	}
	if err := a.GoOnWhere(r.Chain.Device); err != nil {
		return err
	}
	post, err := r.compile(c.Context(), a, file)
	if err != nil {
		return err
	}
	return SampleInto(c.Context(), a, r.Sampling(dir, post), a.CheckpointOf(dir))
}

// compile builds the posterior of a problem. It may first fit a simulator.
func (r *ProblemRun) compile(ctx context.Context, a *frame.App, file string) (*infer.Posterior, error) {
	m, err := r.Model(ctx)
	if ctx.Err() != nil {
		return nil, &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted before the chains began"), Hint: "run the same command again"}
	}
	return compiled(a, file, m, err)
}

// compiled returns the posterior of the model that a file describes.
func compiled(a *frame.App, file string, m *infer.Model, err error) (*infer.Posterior, error) {
	if err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", file, err))
	}
	post, err := m.CompileOn(a.Backend(1))
	if err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", file, err))
	}
	return post, nil
}
