// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

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

// twotimeSampleConfig is the content of config.json for sample twotime.
type twotimeSampleConfig struct {
	chainConfig
	Likelihood string          `json:"likelihood"`
	Homodyne   bool            `json:"homodyne,omitempty"` // whether to write the folder cmc as well
	Twotime    twotimeFlags    `json:"twotime"`
	Measured   measuredDoc     `json:"measured"`
	Noise      []twotime.Noise `json:"noise,omitempty"` // of each angle, for the likelihood of frames
}

const sampleTwotimeCommand = "sample twotime"

var likelihoodNames = []string{string(twotime.ByCells), string(twotime.ByPairs), string(twotime.ByFrames), string(twotime.Independent)}

func (a *app) sampleTwotime() *cobra.Command {
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
  euryale sample twotime --resume flow
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case a.resume != "":
				return a.resumeSampleTwotime(c, args)
			case len(args) == 0 && cfg.Twotime.Config == "":
				return usage("sample twotime needs a FILE, --config, or --resume RUN")
			}
			return a.startSampleTwotime(c.Context(), append(args, "")[0], cfg, c.Flags().Changed)
		},
	}
	cfg.Twotime.add(c)
	cfg.Twotime.addData(c)
	s := c.Flags()
	s.StringVar(&cfg.Likelihood, "likelihood", string(twotime.ByCells), joined(likelihoodNames))
	s.StringArrayVar(&cfg.Twotime.Prior, "prior", nil, "prior of a parameter, of its logarithm (log_NAME), of the contrast or of the offset, as `name=distribution(numbers)`; repeatable")
	s.BoolVar(&cfg.Homodyne, "homodyne", false, "also write the results in the layout of homodyne (subfolder cmc)")
	cfg.add(c, defaultTwotimeChains())
	complete(c, "likelihood", likelihoodNames)
	return c
}

// defaultTwotimeChains are the defaults: the sampler chooses the acceptance.
func defaultTwotimeChains() chainConfig {
	d := defaultChains(0)
	d.Warmup, d.Draws = 500, 1000
	return d
}

// takeSampler adopts the configuration's settings of the sampler for flags that the user did not set.
func takeSampler(cfg *chainConfig, chosen func(flag string) bool, s homodyne.Sampler) {
	for _, n := range []struct {
		flag string
		v    int
		to   *int
	}{{"chains", s.Chains, &cfg.Chains}, {"warmup", s.Warmup, &cfg.Warmup}, {"draws", s.Draws, &cfg.Draws}, {"max-tree-depth", s.Depth, &cfg.Depth}} {
		if n.v > 0 && !chosen(n.flag) {
			*n.to = n.v
		}
	}
	if s.Accept > 0 && !chosen("target-accept") {
		cfg.Target = s.Accept
	}
}

func (a *app) startSampleTwotime(ctx context.Context, file string, cfg twotimeSampleConfig, chosen func(flag string) bool) error {
	if !slices.Contains(likelihoodNames, cfg.Likelihood) {
		return usage("%s", oneOf("--likelihood", cfg.Likelihood, likelihoodNames))
	}
	p, err := a.openTwotime(file, &cfg.Twotime)
	if err != nil {
		return err
	}
	takeSampler(&cfg.chainConfig, chosen, p.Config.Sampler)
	if err := cfg.check(); err != nil {
		return err
	}
	priors, err := cfg.Twotime.priors(p)
	if err != nil {
		return err
	}
	for _, n := range p.NotSampled() {
		a.note("%s", n)
	}
	switch twotime.Likelihood(cfg.Likelihood) {
	case twotime.ByFrames:
		if err := a.countSpeckles(ctx, p, &cfg); err != nil {
			return err
		}
	case twotime.Independent:
		a.note("%s", motion.TooNarrow)
	}
	cfg.Seed = a.seed
	post, err := a.motionPosterior(ctx, p, priors, &cfg)
	if err != nil {
		return err
	}
	cfg.Starts = motion.Starts(post, cfg.Chains, cfg.Seed)
	dir, err := a.makeRundir(cmp.Or(a.out, "run-twotime"))
	if err != nil {
		return err
	}
	cfg.Command, cfg.Version, cfg.File, cfg.Device, cfg.Measured = sampleTwotimeCommand, version(), absolute(p.C2.File), post.Device(), measuredOf(p)
	if err := a.begin(dir, sampleTwotimeCommand, cfg, cfg.File); err != nil {
		return err
	}
	if err := keepCorrelations(dir, p); err != nil {
		return err
	}
	return a.sampleInto(ctx, a.motionSampling(ctx, dir, &cfg, p, post), "")
}

// countSpeckles takes from a fit how many speckles there are, which the likelihood of frames has to know.
func (a *app) countSpeckles(ctx context.Context, p *motion.Problem, cfg *twotimeSampleConfig) error {
	if cfg.Noise = p.Data.Noise; cfg.Noise != nil {
		return nil
	}
	r, err := a.fitMotion(ctx, p, defaultStarts)
	if err != nil {
		return err
	}
	if r.Shared == nil {
		return as(exitData, errors.New("the number of speckles cannot be estimated from the data: give --speckles and --mean-count"))
	}
	cfg.Noise = r.Shared.Noise
	a.note("the likelihood wishart uses %.4g speckles, estimated from the data", cfg.Noise[0].Speckles)
	return nil
}

// motionPosterior compiles the posterior.
func (a *app) motionPosterior(ctx context.Context, p *motion.Problem, priors twotime.Priors, cfg *twotimeSampleConfig) (*twotime.Posterior, error) {
	d := p.Data
	if cfg.Noise != nil {
		d.Noise = cfg.Noise
	}
	post, err := twotime.New(ctx, d, priors, a.posteriorSettings(cfg))
	switch {
	case ctx.Err() != nil:
		return nil, &exitError{code: exitInterrupted, err: errors.New("interrupted before the chains began"), hint: "run the same command again"}
	case err != nil:
		return nil, as(exitData, err)
	}
	return post, nil
}

func (a *app) posteriorSettings(cfg *twotimeSampleConfig) twotime.PosteriorSettings {
	told := time.Now()
	return twotime.PosteriorSettings{Likelihood: twotime.Likelihood(cfg.Likelihood), Threads: a.most(), Seed: cfg.Seed, Backend: a.backend(1), Progress: func(what string, done float64) {
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			a.note("%s: %.0f %% done", what, 100*done)
		}
	}}
}

func (a *app) resumeSampleTwotime(c *cobra.Command, args []string) error {
	var cfg twotimeSampleConfig
	dir, err := a.reopen(c, sampleTwotimeCommand, args, &cfg, "threads")
	if err != nil {
		return err
	}
	if err := a.goOnWhere(cfg.Device); err != nil {
		return err
	}
	if !foreign.Exists(dir.Path(correlationsFile)) { // the run ended before it was written
		if err := unchanged(dir); err != nil {
			return err
		}
		config, err := cfg.Twotime.configuration()
		if err != nil {
			return as(exitConfig, err)
		}
		p, err := motion.Open(config, cfg.File)
		if err != nil {
			return input(err)
		}
		if err := keepCorrelations(dir, p); err != nil {
			return err
		}
	}
	p, err := reopenTwotime(dir, cfg.File, &cfg.Twotime, cfg.Measured)
	if err != nil {
		return err
	}
	priors, err := cfg.Twotime.priors(p)
	if err != nil {
		return as(exitConfig, err)
	}
	post, err := a.motionPosterior(c.Context(), p, priors, &cfg)
	if err != nil {
		return err
	}
	return a.sampleInto(c.Context(), a.motionSampling(c.Context(), dir, &cfg, p, post), a.checkpointOf(dir))
}

// motionPosteriorDoc is the JSON document of sample twotime.
type motionPosteriorDoc struct {
	Engine     string            `json:"engine"`
	Model      homodyne.Model    `json:"model"`
	File       string            `json:"file"`
	Likelihood string            `json:"likelihood"`
	Q          number            `json:"q"`
	Phi        []number          `json:"phi"`
	Frames     [2]int            `json:"frames"`
	Shear      string            `json:"shear"`
	Point      motionPointDoc    `json:"point"`  // medians
	Scales     map[string]rowDoc `json:"scales"` // contrast and offset of each angle
	Notes      []string          `json:"notes"`
	sampleDoc
}

// motionSampling describes the sampling of a motion.
func (a *app) motionSampling(ctx context.Context, dir runs.Folder, cfg *twotimeSampleConfig, p *motion.Problem, post *twotime.Posterior) sampling {
	l := twotime.Likelihood(cfg.Likelihood)
	var at twotime.Point
	var scales diag.Summary
	var notes []string
	var agrees bool
	return sampling{dir: dir, cfg: &cfg.chainConfig, config: cfg, model: "twotime " + string(p.Config.Model), post: post.Posterior,
		check: func(fit *infer.Fit) (check.Verdict, error) {
			at, notes = post.Median(fit), p.RemarksOn(post, fit, l)
			names, x := p.Scales(post, fit, cfg.Seed)
			scales = diag.Summarize(names, x, diag.Settings{})
			v, err := post.Judge(ctx, fit, a.posteriorSettings(cfg))
			agrees = v.OK
			return v, err
		},
		document: func(d sampleDoc) any {
			return motionPosteriorDoc{Engine: "twotime", Model: p.Config.Model, File: cfg.File, Likelihood: cfg.Likelihood, Q: number(p.C2.Q), Phi: numbers(p.C2.Phi), Frames: [2]int{p.C2.First, p.C2.Last},
				Shear: shearText(p.Config), Point: pointDocOf(at), Scales: summaryDoc(scales), Notes: notes, sampleDoc: d}
		},
		extra: func(fit *infer.Fit) error {
			if !cfg.Homodyne {
				return nil
			}
			return as(exitCannotWrite, p.PosteriorResult(post, fit, cfg.Seed, cfg.Warmup, notes, "euryale "+cfg.Version).Write(dir.Path("cmc"), true))
		},
		report: func(fit *infer.Fit, v check.Verdict) error {
			m, err := p.Maps(at)
			if err != nil {
				return as(exitFailed, err)
			}
			return as(exitCannotWrite, report.TwotimePosterior(cfg.File, l, p, m, fit, v, a.pageOf(&cfg.chainConfig)).Save(string(dir)))
		},
		summary: func(fit *infer.Fit) string {
			text := motionSummary(p, fit, scales, notes)
			if agrees { // flags are printed by themselves
				text = strings.TrimRight(text, "\n") + "\nThe model agrees with the data."
			}
			return text
		}}
}

// motionSummary is the table of the motion, and that of contrasts and offsets.
func motionSummary(p *motion.Problem, fit *infer.Fit, scales diag.Summary, notes []string) string {
	s := fit.Summary()
	s.Rows = slices.DeleteFunc(s.Rows, func(r diag.Row) bool { return p.IsAside(r.Name) })
	var b strings.Builder
	fmt.Fprintln(&b, s)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nangle\tcontrast\toffset")
	n := len(p.C2.Phi)
	for k, phi := range p.C2.Phi {
		fmt.Fprintf(w, "%.4g\t%s\t%s\n", phi, report.PlusMinus(scales.Rows[k].Mean, scales.Rows[k].SD), report.PlusMinus(scales.Rows[n+k].Mean, scales.Rows[n+k].SD))
	}
	w.Flush()
	for _, text := range notes {
		fmt.Fprintf(&b, "note: %s\n", text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
