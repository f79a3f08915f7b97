// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
)

// starFlags say which star of which files is meant.
type starFlags struct {
	Target int64 `json:"targetid,omitempty"`
	Row    int   `json:"row,omitempty"` // from 1; 0 if there is only one
}

func (f *starFlags) add(c *cobra.Command) {
	c.Flags().Int64Var(&f.Target, "targetid", 0, "TARGETID of the star in a DESI file")
	c.Flags().IntVar(&f.Row, "row", 0, "row of the file, counted from 1 (default the only one)")
}

// sampleCommand is the command that makes a posterior of a star, as run folders record it.
const sampleCommand = "sample spectrum"

// sampleSpectrumConfig is the content of config.json for sample spectrum.
type sampleSpectrumConfig struct {
	draws.ChainConfig
	Spectra spectraFlags `json:"spectra"`
	Which   starFlags    `json:"star"`
	Data    spectra.Star `json:"data"`
}

func sampleSpectrum(a *frame.App) *cobra.Command {
	var cfg sampleSpectrumConfig
	c := &cobra.Command{
		Use:   "spectrum FILE...",
		Short: "Sample the parameters of one star",
		Long: `Fit one star, then sample the posterior of its velocity, rotation and atmosphere
with NUTS, starting from the fit. The continuum is integrated out.

Several files are spectra of the same star. To select one star from a file with
many, use --targetid or --row. Results go to a run folder: draws, summary,
verdict, plots and a report. Ctrl-C saves the draws so far, and --resume
continues with exactly the draws that an uninterrupted run would have made.

  euryale sample spectrum star.csv --library templates --arm desi_b
  euryale sample spectrum coadd-main-dark-1234.fits --row 7 --out star7
  euryale sample spectrum star.csv --library lib --prior "teff=normal(5800,100)"
  euryale sample spectrum --resume star7
`,
		RunE: func(c *cobra.Command, args []string) error {
			if a.Resume != "" {
				return resumeSampleSpectrum(a, c, args)
			}
			if len(args) == 0 {
				return exit.Usage("sample spectrum needs a FILE, or --resume RUN")
			}
			return startSampleSpectrum(c.Context(), a, cfg, args)
		},
	}
	cfg.Spectra.add(c)
	cfg.Spectra.addPlain(c)
	cfg.Which.add(c)
	cfg.Add(c, draws.DefaultChains(fitfile.Sampling()))
	return c
}

// oneStar reads the star that flags mean.
func oneStar(a *frame.App, p *fitfile.Pipeline, names []string, f *spectraFlags, which starFlags) (*spectra.Star, error) {
	kind, err := fitfile.KindOf(names[0])
	if err != nil {
		return nil, exit.Input(err)
	}
	if kind == fitfile.DESI {
		if len(names) > 1 {
			return nil, exit.Usage("%s is a DESI file: name no other file", names[0])
		}
		if name := f.plain(); name != "" {
			return nil, exit.Usage("%s is a DESI file, which says by itself what --%s would: leave it out", names[0], name)
		}
		star, err := p.Fiber(names[0], func(d *survey.DESI) (int, error) {
			k := which.Row - 1
			switch {
			case which.Target != 0:
				if k = slices.Index(d.TargetID, which.Target); k < 0 {
					return 0, fmt.Errorf("%s has no target %d", names[0], which.Target)
				}
			case which.Row == 0 && len(d.TargetID) == 1:
				k = 0
			case k >= len(d.TargetID) || k < -1:
				return 0, fmt.Errorf("%s has no row %d: its rows are 1 to %d", names[0], which.Row, len(d.TargetID))
			case k < 0:
				return 0, fmt.Errorf("%s has %d fibers: choose one with --targetid or --row", names[0], len(d.TargetID))
			}
			return k, nil
		})
		return star, exit.Input(err)
	}
	if which.Target != 0 {
		return nil, exit.Usage("--targetid is only for DESI files: use --row for %s", names[0])
	}
	units, err := f.units()
	if err != nil {
		return nil, err
	}
	star := &spectra.Star{Name: strings.Join(names, " + ")}
	notes := a.NotesOn("file")
	defer notes.Tell()
	for i, name := range names {
		s, err := fitfile.Open(name, f.MaskBits, units)
		if err != nil {
			return nil, exit.Input(err)
		}
		defer s.Close()
		if s.Told != "" {
			notes.Add(name, "%s", s.Told)
		}
		row := which.Row - 1
		switch {
		case which.Row == 0 && s.N == 1:
			row = 0
		case row >= s.N || row < -1:
			return nil, exit.Usage("%s has no row %d: its rows are 1 to %d", name, which.Row, s.N)
		case row < 0:
			return nil, exit.Usage("%s has %d spectra: choose one with --row", name, s.N)
		}
		t, err := f.taking(i, len(names))
		if err != nil {
			return nil, err
		}
		spec, left, err := p.Spectrum(s, row, t)
		if err != nil {
			return nil, exit.Input(err)
		}
		if spec == nil {
			return nil, exit.With(exit.Data, fmt.Errorf("%s has no usable data: all pixels are masked, or the flux is 0", name))
		}
		if left > 0 {
			notes.Add(name, "%.1f %% of the pixels lie outside the templates or --range and were left out", 100*left)
		}
		if spec.Exposure, err = f.exposure(i, names); err != nil {
			return nil, err
		}
		star.Spectra = append(star.Spectra, *spec)
	}
	return star, nil
}

// fitted fits one star, whose start is then the result.
func fitted(ctx context.Context, a *frame.App, p *fitfile.Pipeline, star *spectra.Star) (*fitfile.Outcome, error) {
	out, err := p.Fit(ctx, []spectra.Star{*star})
	if err == nil {
		err = out[0].Fit.Err
	}
	if err != nil {
		return nil, exit.With(exit.Data, err)
	}
	x, k := out[0].Fit.X, slices.Index(out[0].Fit.Names, spectra.Vsini)
	start := spectra.Start{Vel: x[0], Vsini: x[k], Params: slices.Clone(x[k+1:])}
	if len(out[0].Fit.Exposures) > 0 {
		start.Vels = slices.Clone(x[:k])
	}
	star.Starts = []spectra.Start{start}
	return &out[0], nil
}

func startSampleSpectrum(ctx context.Context, a *frame.App, cfg sampleSpectrumConfig, names []string) error {
	if err := cfg.Check(); err != nil {
		return err
	}
	p, err := pipeline(a, &cfg.Spectra)
	if err != nil {
		return err
	}
	star, err := oneStar(a, p, names, &cfg.Spectra, cfg.Which)
	if err != nil {
		return err
	}
	o, err := fitted(ctx, a, p, star)
	if err != nil {
		return err
	}
	if !o.Fit.Converged {
		a.Note("the fit %s; sampling starts from it nevertheless", o.Fit.Status)
	}
	fitter, err := p.Fitter(star)
	if err != nil {
		return err
	}
	post, err := starPosterior(a, fitter, star)
	if err != nil {
		return err
	}
	if cfg.Starts, err = fitter.Starts(post, star, &o.Fit, infer.Settings{Chains: cfg.Chains, Seed: a.Seed}); err != nil {
		return exit.With(exit.Failed, err)
	}
	out := a.Out
	if out == "" {
		out = "run-spectrum"
		if cfg.Which.Target != 0 {
			out = fmt.Sprintf("run-spectrum-%d", cfg.Which.Target)
		}
	}
	dir, err := a.MakeRundir(out)
	if err != nil {
		return err
	}
	cfg.Command, cfg.Version, cfg.Seed, cfg.Device = sampleCommand, frame.Version(), a.Seed, post.Device()
	cfg.Data, cfg.File = *star, frame.Absolute(names[0])
	if cfg.Spectra.Config, cfg.Spectra.Library = absoluteName(cfg.Spectra.Config), frame.Absolute(p.Library()); cfg.Spectra.Config == "" && foreign.Exists("config.yaml") {
		cfg.Spectra.Config = frame.Absolute("config.yaml")
	}
	if err := a.Begin(dir, cfg.Command, cfg, cfg.Spectra.Config, cfg.Spectra.Library); err != nil {
		return err
	}
	return sampleSpectrumInto(ctx, a, starSampling(a, dir, &cfg, p, post, o), p, o, "")
}

// absoluteName is absolute, and "" for none.
func absoluteName(name string) string {
	if name == "" {
		return ""
	}
	return frame.Absolute(name)
}

func starPosterior(a *frame.App, fitter *spectra.Fitter, star *spectra.Star) (*infer.Posterior, error) {
	m, err := fitter.Model(star)
	if err != nil {
		return nil, exit.With(exit.WrongUsage, err)
	}
	post, err := m.CompileOn(a.Backend(1))
	return post, exit.With(exit.Bug, err)
}

func resumeSampleSpectrum(a *frame.App, c *cobra.Command, args []string) error {
	ctx := c.Context()
	var cfg sampleSpectrumConfig
	dir, err := a.Reopen(c, sampleCommand, args, &cfg, "threads")
	if err != nil {
		return err
	}
	if err := a.GoOnWhere(cfg.Device); err != nil {
		return err
	}
	if err := frame.Unchanged(dir); err != nil {
		return err
	}
	p, err := pipeline(a, &cfg.Spectra)
	if err != nil {
		return err
	}
	star := &cfg.Data
	star.Starts = nil
	o, err := fitted(ctx, a, p, star)
	if err != nil {
		return err
	}
	fitter, err := p.Fitter(star)
	if err != nil {
		return err
	}
	post, err := starPosterior(a, fitter, star)
	if err != nil {
		return err
	}
	return sampleSpectrumInto(ctx, a, starSampling(a, dir, &cfg, p, post, o), p, o, a.CheckpointOf(dir))
}

func sampleSpectrumInto(ctx context.Context, a *frame.App, s draws.Sampling, p *fitfile.Pipeline, o *fitfile.Outcome, checkpoint string) error {
	if name := s.Dir.Path("fit.json"); !foreign.Exists(name) {
		doc := spectraDoc{Engine: "spectra", Library: p.Library(), Files: []string{s.Chain.File}, Stars: []starDoc{starDocument(o)}}
		if err := frame.WriteJSON(name, doc); err != nil {
			return err
		}
	}
	return draws.SampleInto(ctx, a, s, checkpoint)
}

// starPosteriorDoc is the JSON document of sample spectrum.
type starPosteriorDoc struct {
	Engine  string `json:"engine"`
	Star    string `json:"star"`
	Library string `json:"library"`
	draws.SampleDoc
}

// starSampling describes the sampling of a star's posterior.
func starSampling(a *frame.App, dir runs.Folder, cfg *sampleSpectrumConfig, p *fitfile.Pipeline, post *infer.Posterior, o *fitfile.Outcome) draws.Sampling {
	return draws.Sampling{Dir: dir, Chain: &cfg.ChainConfig, Config: cfg, Model: "spectrum", Units: sampledUnits(post), Post: post,
		Document: func(d draws.SampleDoc) any { return starPosteriorDoc{"spectra", cfg.Data.Name, p.Library(), d} },
		Report: func(fit *infer.Fit, v check.Verdict) error {
			models, err := drawnModels(p, &cfg.Data, o, fit.Draws)
			if err != nil {
				return exit.With(exit.Failed, err)
			}
			return exit.With(exit.CannotWrite, report.StarPosterior(cfg.File, p.Library(), &cfg.Data, o, fit, models, v, draws.PageOf(a, &cfg.ChainConfig)).Save(string(dir)))
		},
		// The chains sample the model that was fitted: what the fit says of it, its data and its priors holds.
		Check: func(*infer.Fit) (check.Verdict, error) { return *o.Fit.Verdict, nil }}
}

// drawnModels returns the models of some draws from the posterior of a star.
func drawnModels(p *fitfile.Pipeline, star *spectra.Star, o *fitfile.Outcome, draws func(name string) [][]float64) ([][][]float64, error) {
	fitter, err := p.Fitter(star)
	if err != nil {
		return nil, err
	}
	return fitter.Models(star, report.StarPoints(&o.Fit, draws))
}

// sampledUnits are the units of the parameters of a posterior.
func sampledUnits(post *infer.Posterior) map[string]string {
	units := map[string]string{}
	for _, name := range post.Names() {
		units[name] = spectra.Unit(name)
	}
	return units
}

func plotSpectrum(a *frame.App) *cobra.Command {
	var f spectraFlags
	var which starFlags
	c := &cobra.Command{
		Use:   "spectrum FILE... [OUT.svg|png|pdf]",
		Short: "Draw the spectra of a star, its model and the residuals",
		Long: `Fit a star and draw its spectra, the model, and the residuals in units of their
standard deviation. For a run folder of sample spectrum, draw the star that was
sampled, with the median and the 95 % band of the posterior of the model.

  euryale plot spectrum star.csv --library lib --arm desi_b star.png
  euryale plot spectrum coadd-main-dark-1234.fits --row 7 star.svg
  euryale plot spectrum run-spectrum star.pdf
`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runPlotSpectrum(c.Context(), a, args, &f, which) },
	}
	f.add(c)
	f.addPlain(c)
	which.add(c)
	return c
}

func runPlotSpectrum(ctx context.Context, a *frame.App, args []string, f *spectraFlags, which starFlags) error {
	out, names, err := a.PictureFile("spectrum", args)
	if err != nil {
		return err
	}
	var star *spectra.Star
	var sampled func(name string) [][]float64
	if st, err := os.Stat(names[0]); len(names) == 1 && err == nil && st.IsDir() {
		var cfg sampleSpectrumConfig
		if err := runs.Folder(names[0]).Resume(sampleCommand, &cfg); err != nil {
			return frame.ConfigError(err)
		}
		*f, star = cfg.Spectra, &cfg.Data
		star.Starts = nil
		t, err := draws.LoadDraws(a, names)
		if err != nil {
			return err
		}
		sampled = func(name string) [][]float64 {
			if k := slices.Index(t.Names, name); k >= 0 {
				return t.X[k]
			}
			return nil
		}
	}
	p, err := pipeline(a, f)
	if err != nil {
		return err
	}
	if star == nil {
		if star, err = oneStar(a, p, names, f, which); err != nil {
			return err
		}
	}
	o, err := fitted(ctx, a, p, star)
	if err != nil {
		return err
	}
	fig, err := report.Star(star, &o.Fit)
	if sampled != nil {
		var models [][][]float64
		if models, err = drawnModels(p, star, o, sampled); err == nil {
			fig, err = report.StarDraws(star, models)
		}
	}
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	if !a.Quiet && !a.JSON {
		one := report.SpectraFits{Files: names, Library: p.Library(), Stars: []spectra.Star{*star}, Outcomes: []fitfile.Outcome{*o}}
		if err := one.Write(a.Stderr, a.Verbose); err != nil {
			return exit.With(exit.CannotWrite, err)
		}
	}
	return a.SavePicture("spectrum", out, fig)
}
