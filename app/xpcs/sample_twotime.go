// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/models/twotime/motion"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
)

type twotimeSampleChoice struct {
	Likelihood string `json:"likelihood" default:"cells" choices:"cells,pairs,wishart,independent" about:"likelihood of the entries"`
	Homodyne   bool   `json:"homodyne,omitempty" about:"also write the results in the layout of homodyne (subfolder cmc)"`
}

// twotimeSampleConfig is the content of config.json for sample twotime.
type twotimeSampleConfig struct {
	draws.ChainConfig
	twotimeSampleChoice
	Twotime  motion.Request  `json:"twotime"`
	Measured measuredDoc     `json:"measured"`
	Noise    []twotime.Noise `json:"noise,omitempty"` // of each angle, for the likelihood of frames
}

const sampleTwotimeCommand = "sample twotime"

func sampleTwotime(a *frame.App) *cobra.Command {
	var cfg twotimeSampleConfig
	c := &cobra.Command{
		Use:   "twotime FILE",
		Short: "Sample the parameters of motion from two-time correlations",
		Long: `Sample the parameters of diffusion, shear flow, or a flowing sample mixed with a
static reference, from the two-time correlations of all angles together, with
NUTS. The contrast and offset of each angle are integrated out and drawn
afterwards.

--likelihood selects how entries of C2 are weighed. cells averages C2 over cells
of lag and age and uses the covariance that speckles and photons give them.
pairs uses all entries; its power below 1 allows for shared frames on
average. wishart uses the covariance of the frames; it suits few frames whose
diagonal was measured. independent treats every entry as independent, which
makes intervals too narrow.

FILE is as for fit twotime. Results go to a run folder: draws, summary, verdict,
plots and a report. Ctrl-C saves the draws so far, and --resume continues with
exactly the draws that an uninterrupted run would have made.

  euryale sample twotime flow.yaml --out flow
  euryale sample twotime A003_results.hdf --model laminar --q 0.0054 \
      --prior "D0=lognormal(9,1)" --prior "phi0=normal(0,10)"
  euryale sample twotime flow.yaml --bounds alpha=-0.5:0.5 --out bounded
  euryale sample twotime --resume flow
  euryale sample twotime --resume flow --draws 4000
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case a.Resume != "":
				return resumeSampleTwotime(a, c, args)
			case len(args) == 0 && cfg.Twotime.Config == "":
				return exit.Usage("sample twotime needs a FILE, --config, or --resume RUN")
			}
			return startSampleTwotime(c.Context(), a, append(args, "")[0], cfg, c.Flags().Changed)
		},
	}
	frame.AddSettings(c, sampleTwotimeCommand, &cfg.Twotime)
	frame.AddSettings(c, sampleTwotimeCommand, &cfg.twotimeSampleChoice)
	cfg.Add(c, draws.DefaultChains(motion.Sampling(nil)))
	return c
}

func startSampleTwotime(ctx context.Context, a *frame.App, file string, cfg twotimeSampleConfig, chosen func(flag string) bool) error {
	if err := frame.CheckSettings(&cfg.twotimeSampleChoice); err != nil {
		return err
	}
	p, err := openTwotime(a, file, &cfg.Twotime)
	if err != nil {
		return err
	}
	cfg.LeaveTo(chosen, motion.Sampling(p.Config))
	if err := cfg.Check(); err != nil {
		return err
	}
	priors, err := cfg.Twotime.Beliefs(p)
	if err != nil {
		return requestError(err)
	}
	for _, n := range p.NotSampled(&cfg.Twotime) {
		a.Note("%s", n)
	}
	switch twotime.Likelihood(cfg.Likelihood) {
	case twotime.ByFrames:
		if err := countSpeckles(ctx, a, p, &cfg); err != nil {
			return err
		}
	case twotime.Independent:
		a.Note("%s", motion.TooNarrow)
	}
	cfg.Seed = a.Seed
	post, err := motionPosterior(ctx, a, p, priors, &cfg)
	if err != nil {
		return err
	}
	cfg.Starts = motion.Starts(post, cfg.Chains, cfg.Seed)
	dir, err := a.MakeRundir(cmp.Or(a.Out, "run-twotime"))
	if err != nil {
		return err
	}
	cfg.Command, cfg.Version, cfg.File, cfg.Device, cfg.Measured = sampleTwotimeCommand, frame.Version(), frame.Absolute(p.C2.File), post.Device(), measuredOf(p)
	if err := a.Begin(dir, sampleTwotimeCommand, cfg, cfg.File); err != nil {
		return err
	}
	if err := keepCorrelations(dir, p); err != nil {
		return err
	}
	return draws.SampleInto(ctx, a, motionSampling(ctx, a, dir, &cfg, p, post), "")
}

// countSpeckles takes from a fit how many speckles there are, which the likelihood of frames has to know.
func countSpeckles(ctx context.Context, a *frame.App, p *motion.Problem, cfg *twotimeSampleConfig) error {
	if cfg.Noise = p.Data.Noise; cfg.Noise != nil {
		return nil
	}
	r, err := fitMotion(ctx, a, p, defaultStarts, nil, nil)
	if err != nil {
		return err
	}
	if r.Shared == nil {
		return exit.With(exit.Data, errors.New("the number of speckles cannot be estimated from the data: give --speckles and --mean-count"))
	}
	cfg.Noise = r.Shared.Noise
	a.Note("the likelihood wishart uses %.4g speckles, estimated from the data", cfg.Noise[0].Speckles)
	return nil
}

// motionPosterior compiles the posterior.
func motionPosterior(ctx context.Context, a *frame.App, p *motion.Problem, priors twotime.Priors, cfg *twotimeSampleConfig) (*twotime.Posterior, error) {
	d := p.Data
	if cfg.Noise != nil {
		d.Noise = cfg.Noise
	}
	post, err := twotime.New(ctx, d, priors, posteriorSettings(a, cfg))
	switch {
	case ctx.Err() != nil:
		return nil, &exit.Error{Code: exit.Interrupted, Err: errors.New("interrupted before the chains began"), Hint: "run the same command again"}
	case err != nil:
		return nil, exit.With(exit.Data, err)
	}
	return post, nil
}

func posteriorSettings(a *frame.App, cfg *twotimeSampleConfig) twotime.PosteriorSettings {
	told := time.Now()
	return twotime.PosteriorSettings{Likelihood: twotime.Likelihood(cfg.Likelihood), Threads: most(a), Seed: cfg.Seed, Backend: a.Backend(1), Progress: func(what string, done float64) {
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			a.Note("%s: %.0f %% done", what, 100*done)
		}
	}}
}

func resumeSampleTwotime(a *frame.App, c *cobra.Command, args []string) error {
	var cfg twotimeSampleConfig
	dir, err := cfg.Reopen(a, c, sampleTwotimeCommand, args, &cfg)
	if err != nil {
		return err
	}
	if err := a.GoOnWhere(cfg.Device); err != nil {
		return err
	}
	if !foreign.Exists(dir.Path(correlationsFile)) { // the run ended before it was written
		if err := frame.Unchanged(dir); err != nil {
			return err
		}
		config, err := configuration(&cfg.Twotime)
		if err != nil {
			return exit.With(exit.Config, err)
		}
		p, err := motion.Open(config, cfg.File)
		if err != nil {
			return exit.Input(err)
		}
		if err := keepCorrelations(dir, p); err != nil {
			return err
		}
	}
	p, err := reopenTwotime(dir, cfg.File, &cfg.Twotime, cfg.Measured)
	if err != nil {
		return err
	}
	priors, err := cfg.Twotime.Beliefs(p)
	if err != nil {
		return exit.With(exit.Config, err)
	}
	post, err := motionPosterior(c.Context(), a, p, priors, &cfg)
	if err != nil {
		return err
	}
	return draws.SampleInto(c.Context(), a, motionSampling(c.Context(), a, dir, &cfg, p, post), a.CheckpointOf(dir))
}

// motionPosteriorDoc is the JSON document of sample twotime.
type motionPosteriorDoc struct {
	Engine     string                  `json:"engine"`
	Model      homodyne.Model          `json:"model"`
	File       string                  `json:"file"`
	Likelihood string                  `json:"likelihood"`
	Q          frame.Number            `json:"q"`
	Phi        []frame.Number          `json:"phi"`
	Frames     [2]int                  `json:"frames"`
	Shear      string                  `json:"shear"`
	Point      motionPointDoc          `json:"point"`  // medians
	Scales     map[string]draws.RowDoc `json:"scales"` // contrast and offset of each angle
	Notes      []string                `json:"notes"`
	draws.SampleDoc
}

// motionSampling describes the sampling of a motion.
func motionSampling(ctx context.Context, a *frame.App, dir runs.Folder, cfg *twotimeSampleConfig, p *motion.Problem, post *twotime.Posterior) draws.Sampling {
	l := twotime.Likelihood(cfg.Likelihood)
	var at twotime.Point
	var scales diag.Summary
	var notes []string
	return draws.Sampling{Dir: dir, Chain: &cfg.ChainConfig, Config: cfg, Model: "twotime " + string(p.Config.Model), Units: motion.Units, Post: post.Posterior,
		Check: func(fit *infer.Fit) (check.Verdict, error) {
			at, notes = post.Median(fit), p.RemarksOn(post, fit, l)
			names, x := p.Scales(post, fit, cfg.Seed)
			scales = diag.Summarize(names, x, diag.Settings{})
			return post.Judge(ctx, fit, posteriorSettings(a, cfg))
		},
		Document: func(d draws.SampleDoc) any {
			return motionPosteriorDoc{Engine: "twotime", Model: p.Config.Model, File: cfg.File, Likelihood: cfg.Likelihood, Q: frame.Number(p.C2.Q), Phi: frame.Numbers(p.C2.Phi), Frames: [2]int{p.C2.First, p.C2.Last},
				Shear: shearText(p.Config), Point: pointDocOf(at), Scales: draws.SummaryDoc(scales), Notes: notes, SampleDoc: d}
		},
		Extra: func(fit *infer.Fit) error {
			if !cfg.Homodyne {
				return nil
			}
			return exit.With(exit.CannotWrite, p.PosteriorResult(post, fit, cfg.Seed, cfg.Warmup, notes, "euryale "+cfg.Version).Write(dir.Path("cmc"), true))
		},
		Report: func(fit *infer.Fit, v check.Verdict) error {
			m, err := p.Maps(at)
			if err != nil {
				return exit.With(exit.Failed, err)
			}
			return exit.With(exit.CannotWrite, report.TwotimePosterior(cfg.File, l, p, m, fit, v, draws.PageOf(a, &cfg.ChainConfig)).Save(string(dir)))
		},
		Summary: func(fit *infer.Fit) string { return motionSummary(p, fit, scales) },
		Notes:   func() []string { return notes }}
}

// motionSummary is the table of the motion, and that of contrasts and offsets.
func motionSummary(p *motion.Problem, fit *infer.Fit, scales diag.Summary) string {
	s := fit.Summary()
	s.Note = fit.String()
	s.Rows = slices.DeleteFunc(s.Rows, func(r diag.Row) bool { return p.IsAside(r.Name) })
	for i := range s.Rows {
		if unit := motion.Units[s.Rows[i].Name]; unit != "" {
			s.Rows[i].Name += " (" + unit + ")"
		}
	}
	var b strings.Builder
	fmt.Fprintln(&b, s)
	w := foreign.Table(&b, 0)
	fmt.Fprintln(w, "\nangle\tcontrast\toffset")
	n := len(p.C2.Phi)
	for k, phi := range p.C2.Phi {
		fmt.Fprintf(w, "%.4g\t%s\t%s\n", phi, report.PlusMinus(scales.Rows[k].Mean, scales.Rows[k].SD), report.PlusMinus(scales.Rows[n+k].Mean, scales.Rows[n+k].SD))
	}
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
