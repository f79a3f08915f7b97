// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"fmt"
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

// fiber returns the row of a file of DESI that is meant, from 0.
func (f *starFlags) fiber(d *survey.DESI) (int, error) {
	k := f.Row - 1
	switch {
	case f.Target != 0:
		if k = slices.Index(d.TargetID, f.Target); k < 0 {
			return 0, fmt.Errorf("%s has no target %d", d.Name, f.Target)
		}
	case f.Row == 0 && len(d.TargetID) == 1:
		k = 0
	case k >= len(d.TargetID) || k < -1:
		return 0, fmt.Errorf("%s has no row %d: its rows are 1 to %d", d.Name, f.Row, len(d.TargetID))
	case k < 0:
		return 0, fmt.Errorf("%s has %d fibers: choose one with --targetid or --row", d.Name, len(d.TargetID))
	}
	return k, nil
}

// of returns the row of another file that is meant, from 0.
func (f *starFlags) of(s *fitfile.Source) (int, error) {
	switch {
	case f.Target != 0:
		return 0, exit.Usage("--targetid is only for DESI files: use --row for %s", s.Name)
	case f.Row == 0 && s.N == 1:
		return 0, nil
	case f.Row > s.N || f.Row < 0:
		return 0, exit.Usage("%s has no row %d: its rows are 1 to %d", s.Name, f.Row, s.N)
	case f.Row == 0:
		return 0, exit.Usage("%s has %d spectra: choose one with --row", s.Name, s.N)
	}
	return f.Row - 1, nil
}

// aloneAsDESI refuses files beside one of DESI, and flags of which it has no need.
func (f *spectraFlags) aloneAsDESI(names []string) error {
	if len(names) > 1 {
		return exit.Usage("%s is a DESI file: name no other file", names[0])
	}
	if name := f.plain(); name != "" {
		return exit.Usage("%s is a DESI file, which says by itself what --%s would: leave it out", names[0], name)
	}
	return nil
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
  euryale sample spectrum --resume star7 --draws 4000
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
		if err := f.aloneAsDESI(names); err != nil {
			return nil, err
		}
		star, err := p.Fiber(names[0], which.fiber)
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
		row, err := which.of(s)
		if err != nil {
			return nil, err
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
	dir, err := cfg.Reopen(a, c, sampleCommand, args, &cfg)
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
