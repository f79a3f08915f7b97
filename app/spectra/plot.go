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
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
)

// plotFlags are the flags of plot spectrum.
type plotFlags struct {
	spectraFlags
	starFlags
	Measured, Correlation bool
	Fit                   string
}

func plotSpectrum(a *frame.App) *cobra.Command {
	var f plotFlags
	c := &cobra.Command{
		Use:   "spectrum FILE... [OUT.svg|png|pdf]",
		Short: "Draw the spectra of a star, its model and the residuals",
		Long: `Fit a star and draw its spectra, the model, and the residuals in units of their
standard deviation. Without a library of templates, or with --measured, nothing
is fitted: the flux is drawn as it was measured, with its errors and with masked
pixels in grey, beside what an earlier fit spectra found, if its tables stand in
the folder of the spectra or --fit names them. --correlation draws how the
templates agree with the star at each velocity, before any fit. For a run folder
of sample spectrum, draw the star that was sampled, with the median and the 95 %
band of the posterior of the model.

  euryale plot spectrum star.csv --library lib --arm desi_b star.png
  euryale plot spectrum coadd-main-dark-1234.fits --row 7 star.svg
  euryale plot spectrum coadd-main-dark-1234.fits --row 7 --fit tables
  euryale plot spectrum run-spectrum star.pdf
`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runPlotSpectrum(c.Context(), a, args, &f) },
	}
	f.spectraFlags.add(c)
	f.addPlain(c)
	f.starFlags.add(c)
	c.Flags().BoolVar(&f.Measured, "measured", false, "draw what was measured, and fit nothing (default without a library)")
	c.Flags().BoolVar(&f.Correlation, "correlation", false, "draw how chi-square of the best template changes with the velocity, as cross-correlation finds it before the fit")
	c.Flags().StringVar(&f.Fit, "fit", "", "`result` of fit spectra to draw beside what was measured: a folder, rvtab_*.fits or fit.json (default those beside the spectra)")
	return c
}

func runPlotSpectrum(ctx context.Context, a *frame.App, args []string, f *plotFlags) error {
	out, names, err := a.PictureFile("spectrum", args)
	if err != nil {
		return err
	}
	if st, err := os.Stat(names[0]); err == nil && st.IsDir() && len(names) == 1 {
		if f.Measured || f.Fit != "" || f.Correlation {
			return exit.Usage("%s is a folder: --measured, --fit and --correlation are for files of spectra", names[0])
		}
		return plotSampled(ctx, a, out, names)
	}
	if f.Fit == "" && !f.Measured {
		c, err := configuration(a, &f.spectraFlags)
		if err != nil {
			return err
		}
		if f.Measured = c.Library == ""; f.Measured {
			a.Note("no template library is given, so nothing is fitted")
		}
	}
	if f.Fit != "" || f.Measured {
		if f.Correlation {
			return exit.Usage("--correlation needs a library of templates, and neither --measured nor --fit: give --library")
		}
		return plotMeasured(a, out, names, f)
	}
	p, err := pipeline(a, &f.spectraFlags)
	if err != nil {
		return err
	}
	star, err := oneStar(a, p, names, &f.spectraFlags, f.starFlags)
	if err != nil {
		return err
	}
	if f.Correlation {
		return plotCorrelation(ctx, a, out, p, star)
	}
	o, err := fitted(ctx, a, p, star)
	if err != nil {
		return err
	}
	fig, err := report.Star(star, &o.Fit)
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	if err := tellFit(a, p, names, star, o); err != nil {
		return err
	}
	return a.SavePicture("spectrum", out, fig)
}

// plotSampled draws the star of a run folder.
func plotSampled(ctx context.Context, a *frame.App, out string, names []string) error {
	var cfg sampleSpectrumConfig
	if err := runs.Folder(names[0]).Resume(sampleCommand, &cfg); err != nil {
		return frame.ConfigError(err)
	}
	star := &cfg.Data
	star.Starts = nil
	t, err := draws.LoadDraws(a, names)
	if err != nil {
		return err
	}
	p, err := pipeline(a, &cfg.Spectra)
	if err != nil {
		return err
	}
	o, err := fitted(ctx, a, p, star)
	if err != nil {
		return err
	}
	models, err := drawnModels(p, star, o, func(name string) [][]float64 {
		if k := slices.Index(t.Names, name); k >= 0 {
			return t.X[k]
		}
		return nil
	})
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	fig, err := report.StarDraws(star, models)
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	if err := tellFit(a, p, names, star, o); err != nil {
		return err
	}
	return a.SavePicture("spectrum", out, fig)
}

// tellFit writes the result of a fit beside its picture.
func tellFit(a *frame.App, p *fitfile.Pipeline, names []string, star *spectra.Star, o *fitfile.Outcome) error {
	if a.Quiet || a.JSON {
		return nil
	}
	one := report.SpectraFits{Files: names, Library: p.Library(), Stars: []spectra.Star{*star}, Outcomes: []fitfile.Outcome{*o}}
	return exit.With(exit.CannotWrite, one.Write(a.Stderr, a.Verbose))
}

// plotCorrelation draws chi-square of the template that agrees best with a star against the velocity.
func plotCorrelation(ctx context.Context, a *frame.App, out string, p *fitfile.Pipeline, star *spectra.Star) error {
	velocities, g, err := p.Correlate(ctx, star)
	if err != nil {
		return exit.With(exit.Data, err)
	}
	of := func(name string, curve []float64) viz.Line {
		least := slices.Min(curve)
		y := make([]float64, len(curve))
		for i, v := range curve {
			y[i] = v - least
		}
		return viz.Line{Name: name, X: velocities, Y: y}
	}
	all := viz.Lines{XLabel: "velocity (km/s)", YLabel: "chi-square above its least", Curves: []viz.Line{of("all", g.Curve)}}
	for _, arm := range g.Arms {
		if len(g.Arms) > 1 && len(arm.Curve) == len(velocities) {
			all.Curves = append(all.Curves, of(arm.Arm, arm.Curve))
		}
	}
	fig, err := viz.Plots("Cross-correlation of "+star.Name, all)
	if err != nil {
		return exit.With(exit.Data, err)
	}
	params, err := p.Params()
	if err != nil {
		return exit.Input(err)
	}
	best := []string{}
	for k, name := range params {
		if k < len(g.Params) {
			best = append(best, strings.TrimSpace(fmt.Sprintf("%s %.5g %s", name, g.Params[k], spectra.Unit(name))))
		}
	}
	fig.Note = fmt.Sprintf("The best template has %s, vsini %.3g km/s, and agrees best at %.5g km/s, where fits begin.", strings.Join(best, ", "), g.Vsini, g.Vel)
	return a.SavePicture("spectrum", out, fig)
}
