// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
)

// sampleConfig is the content of config.json for sample g2.
type sampleConfig struct {
	draws.ChainConfig
	G2       g2.Request   `json:"g2"`
	Bin      int          `json:"bin"`
	Q        frame.Number `json:"q"`
	Phi      frame.Number `json:"phi"`
	Axis     string       `json:"axis,omitempty"` // name of the quantity in q, if it is not q itself
	AxisUnit string       `json:"axis_unit,omitempty"`
	X        []float64    `json:"x"`
	Y        []float64    `json:"y"`
	Err      []float64    `json:"err,omitempty"`
	// Cov, Samples and Skew are those of the points, if their errors are not independent.
	Cov     []float64 `json:"cov,omitempty"`
	Samples int       `json:"cov_samples,omitempty"`
	Skew    []float64 `json:"skew,omitempty"`
	Age     float64   `json:"age,omitempty"` // s
	// Remarks are nil in runs of earlier versions.
	Remarks *g2.Remarks `json:"remarks,omitempty"`
}

func sampleG2(a *frame.App) *cobra.Command {
	var cfg sampleConfig
	var bins string
	c := &cobra.Command{
		Use:   "g2 FILE [--bin N]",
		Short: "Sample the parameters of correlation functions",
		Long: `Fit one bin by least squares, then sample its posterior with NUTS, starting from
the fit. --bins samples several bins, or all, one after another and past any
that fails: each has a run folder of its own, bin-N, in the folder of --out,
and posteriors.csv there has the means and intervals of all. The same command
again keeps the bins that are finished.

Results go to a run folder: draws, summary, verdict, plots and a report. Ctrl-C
saves the draws so far, and --resume continues with exactly the draws that an
uninterrupted run would have made.

  euryale sample g2 A003_results.hdf --bin 4
  euryale sample g2 A003_results.hdf --bin 4 --model stretched --out run4 --json
  euryale sample g2 A003_results.hdf --bins all --out posteriors
  euryale sample g2 --resume run4
  euryale sample g2 --resume run4 --draws 4000
  euryale sample g2 curve.csv --prior "tau=lognormal(-7,2)"

Without --bounds and --start, the fit begins as euryale fit g2 does. The models
and the default priors of the parameters that are sampled:

` + g2.DescribePriors() + `
Where a file has no errors, their size sigma is a parameter, too, with the prior
halfnormal(0.1). --bounds truncates priors; those of the models aps_... span it.
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if a.Resume != "" {
				return resumeSampleG2(a, c, args)
			}
			if c.Flags().Changed("bin") && cfg.Bin == 0 {
				return exit.Usage("--bin 0: bins are counted from 1: the first is --bin 1")
			}
			if len(args) != 1 {
				return exit.Usage("sample g2 needs a FILE, or --resume RUN")
			}
			cfg.File = args[0]
			if bins != "" {
				return sampleBins(c, a, cfg, bins)
			}
			return startSampleG2(c.Context(), a, cfg)
		},
	}
	frame.AddSettings(c, "sample g2", &cfg.G2)
	c.Flags().IntVar(&cfg.Bin, "bin", 0, "bin to sample, counted from 1 (default the only one)")
	c.Flags().StringVar(&bins, "bins", "", "bins to sample one after another, such as 3,5-7, or all")
	cfg.Add(c, draws.DefaultChains(g2.Sampling()))
	return c
}

func startSampleG2(ctx context.Context, a *frame.App, cfg sampleConfig) error {
	model, s, err := cfg.G2.Resolve()
	if err != nil {
		return frame.SettingError(err)
	}
	s.Backend = a.Backend(1)
	if err := cfg.Check(frame.Whole("bin", cfg.Bin, 0, math.MaxInt32)...); err != nil {
		return err
	}
	curves, err := sampledCurves(ctx, a, cfg.File, model, s)
	if err != nil {
		return err
	}
	if cfg.Bin == 0 && len(curves) == 1 {
		cfg.Bin = curves[0].Bin
	} else if cfg.Bin == 0 {
		return exit.Usage("%s has bins %d to %d: choose one with --bin, or several with --bins", cfg.File, curves[0].Bin, curves[len(curves)-1].Bin)
	}
	if curves, err = pickBins(cfg.File, curves, strconv.Itoa(cfg.Bin)); err != nil {
		return err
	}
	c := curves[0]
	point, err := g2.FitOne(ctx, model, c, pointSettings(model, s))
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	if point.Status == "failed" {
		return exit.With(exit.Data, errors.New(point.Message))
	}
	if !point.OK() {
		a.Note("the fit did not converge (%s); sampling starts from it nevertheless", point.Message)
	}
	post, err := compileG2(model, c, s)
	if err != nil {
		return err
	}
	if cfg.Starts, err = g2.Starts(post, point, s, cfg.Chains, a.Seed); err != nil {
		return exit.With(exit.Failed, err)
	}
	out := a.Out
	if out == "" {
		out = fmt.Sprintf("run-g2-%s-bin%d", model.Name, cfg.Bin)
	}
	dir, err := a.MakeRundir(out)
	if err != nil {
		return err
	}
	cfg.Command, cfg.Version, cfg.Seed, cfg.Device = "sample g2", frame.Version(), a.Seed, post.Device()
	cfg.Q, cfg.Phi, cfg.X, cfg.Y, cfg.Err = frame.Number(c.Q), frame.Number(c.Phi), c.X, c.Y, c.Err
	cfg.Cov, cfg.Samples, cfg.Skew = c.Cov, c.Samples, c.Skew
	cfg.Axis, cfg.AxisUnit, cfg.Age, cfg.Remarks = c.Axis, c.AxisUnit, c.Age, c.Remarks()
	cfg.File = frame.Absolute(cfg.File)
	if err := a.Begin(dir, "sample g2", cfg); err != nil {
		return err
	}
	return sampleG2Into(ctx, a, g2Sampling(a, dir, &cfg, model, s, c, post, point), documentOf(model, cfg.File, []g2.Fit{point}), "")
}

// sampledCurves reads the curves of a file, or the one that a model of q has.
func sampledCurves(ctx context.Context, a *frame.App, file string, model g2.Model, s g2.Settings) ([]g2.Curve, error) {
	curves, err := loadCurves(file)
	if err != nil || model.Of != "q" {
		return curves, err
	}
	return againstQ(ctx, a, model, curves, s)
}

// sampleG2Into writes the point fit, unless an earlier run has done so, and samples.
func sampleG2Into(ctx context.Context, a *frame.App, s draws.Sampling, fit fitDoc, checkpoint string) error {
	if name := s.Dir.Path("fit.json"); !foreign.Exists(name) {
		if err := frame.WriteJSON(name, fit); err != nil {
			return err
		}
	}
	return draws.SampleInto(ctx, a, s, checkpoint)
}

// pointSettings drops the settings that only the Bayesian model uses.
func pointSettings(model g2.Model, s g2.Settings) g2.Settings {
	s.Priors = nil
	return s
}

func compileG2(model g2.Model, c g2.Curve, s g2.Settings) (*infer.Posterior, error) {
	m, err := g2.Posterior(model, c, s)
	if err != nil {
		return nil, exit.With(exit.WrongUsage, err)
	}
	post, err := m.CompileOn(s.Backend)
	return post, exit.With(exit.Bug, err)
}

func resumeSampleG2(a *frame.App, cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	var cfg sampleConfig
	dir, err := cfg.Reopen(a, cmd, "sample g2", args, &cfg)
	if err != nil {
		return err
	}
	if err := a.GoOnWhere(cfg.Device); err != nil {
		return err
	}
	model, s, err := cfg.G2.Resolve()
	if err != nil {
		return exit.With(exit.Config, err)
	}
	s.Backend = a.Backend(1)
	c := g2.Curve{Bin: cfg.Bin, Q: float64(cfg.Q), Phi: float64(cfg.Phi), Axis: cfg.Axis, AxisUnit: cfg.AxisUnit, X: cfg.X, Y: cfg.Y, Err: cfg.Err,
		Cov: cfg.Cov, Samples: cfg.Samples, Skew: cfg.Skew, Age: cfg.Age}.With(cfg.Remarks)
	if cfg.Remarks == nil {
		a.Note("the run in %s was begun by an earlier version, which did not keep what %s says about the measurement: the verdict sees the points alone; see that of euryale fit g2 too", dir, cfg.File)
	}
	post, err := compileG2(model, c, s)
	if err != nil {
		return exit.With(exit.Config, err)
	}
	point, err := g2.FitOne(ctx, model, c, pointSettings(model, s))
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	return sampleG2Into(ctx, a, g2Sampling(a, dir, &cfg, model, s, c, post, point), documentOf(model, cfg.File, []g2.Fit{point}), a.CheckpointOf(dir))
}

// g2Doc is the JSON document of sample g2.
type g2Doc struct {
	Engine string       `json:"engine"`
	Model  string       `json:"model"`
	Bin    int          `json:"bin"`
	Q      frame.Number `json:"q"`
	Age    frame.Number `json:"age,omitempty"` // s
	draws.SampleDoc
}

// g2Sampling describes the sampling of a g2 posterior.
func g2Sampling(a *frame.App, dir runs.Folder, cfg *sampleConfig, model g2.Model, s g2.Settings, c g2.Curve, post *infer.Posterior, point g2.Fit) draws.Sampling {
	return draws.Sampling{Dir: dir, Chain: &cfg.ChainConfig, Config: cfg, Model: "g2 " + model.Name, Units: fitUnits(model, c), Post: post,
		Document: func(d draws.SampleDoc) any {
			return g2Doc{"g2", model.Name, cfg.Bin, frame.Number(c.Q), frame.Number(c.Age), d}
		},
		Report: func(fit *infer.Fit, v check.Verdict) error {
			r := report.CurveRun{File: cfg.File, Model: model, Settings: s, Curve: c, Point: point, Posterior: post}
			return exit.With(exit.CannotWrite, report.CurvePosterior(r, fit, v, draws.PageOf(a, &cfg.ChainConfig)).Save(string(dir)))
		},
		Check: func(fit *infer.Fit) (check.Verdict, error) { return g2.CheckPosterior(model, c, s, fit) }}
}
