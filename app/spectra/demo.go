// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/ccf"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
	"github.com/euryale-dev/euryale/report"
)

func demoSpectrum(a *frame.App) *cobra.Command {
	var only bool
	var fibers int
	c := &cobra.Command{
		Use:   "spectrum",
		Short: "Fit a file of stellar spectra and sample one star",
		Long: `Make a small library of template spectra and a file of synthetic stars in DESI's
format. Fit all fibers, compare the velocities and the atmospheric parameters
with the truth, and sample the posterior of one star. This needs no network and
takes less than a minute.

  euryale demo spectrum
  euryale demo spectrum --out run --overwrite
  euryale demo spectrum --data --fibers 1000
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDemoSpectrum(c.Context(), a, fibers, only) },
	}
	c.Flags().BoolVar(&only, "data", false, "only make the data")
	c.Flags().IntVar(&fibers, "fibers", 20, "number of fibers in the file")
	return c
}

// demoStarDoc compares a fit with the truth.
type demoStarDoc struct {
	Target  int64                   `json:"target"`
	Kind    string                  `json:"kind"`
	Truth   map[string]frame.Number `json:"truth,omitempty"`
	Fit     map[string]frame.Number `json:"fit,omitempty"`
	SD      map[string]frame.Number `json:"sd,omitempty"`
	Agrees  bool                    `json:"model_agrees"`
	Warning int64                   `json:"rvs_warn"`
}

// makeStars writes the library and the spectra of the demonstration.
func makeStars(ctx context.Context, a *frame.App, dir string, fibers int) ([]demo.Fiber, error) {
	arms, err := demo.StarLibrary(ctx, demo.LibrarySettings{Threads: a.Threads})
	if err != nil {
		return nil, err
	}
	var templates []*rvspecfit.CCF
	for _, arm := range arms {
		src, err := ccf.FromTemplates(arm)
		if err != nil {
			return nil, err
		}
		t, err := ccf.Build(src, ccf.BuildSettings{Every: 3, Vsinis: []float64{0, 50}, Revision: "demo", Command: a.Command, Threads: a.Threads})
		if err != nil {
			return nil, err
		}
		templates = append(templates, t)
	}
	if err := rvspecfit.WriteOpen(dir+"/library.h5", arms, templates); err != nil {
		return nil, exit.With(exit.CannotWrite, err)
	}
	lib, err := spectra.From(arms, spectra.LoadSettings{})
	if err != nil {
		return nil, err
	}
	list, err := demo.WriteDESI(ctx, dir, "demo", lib, fibers, demo.StarSettings{Seed: a.Seed})
	return list, exit.With(exit.CannotWrite, err)
}

func runDemoSpectrum(ctx context.Context, a *frame.App, fibers int, only bool) error {
	if fibers < 1 || fibers > 1e6 {
		return exit.Usage("--fibers %d: want 1 to 1000000", fibers)
	}
	dir, err := a.DemoFolder("demo-spectrum")
	if err != nil {
		return err
	}
	out := a.Stdout
	if a.JSON {
		out = io.Discard
	}
	step := func(format string, v ...any) { fmt.Fprintf(out, "\n== "+format+"\n", v...) }
	list, err := makeStars(ctx, a, string(dir), fibers)
	if err != nil {
		return err
	}
	config := "template_lib: library.h5\nmin_vel: -600\nmax_vel: 600\n"
	if err := frame.WriteFile(dir.Path("config.yaml"), []byte(config)); err != nil {
		return err
	}
	file := dir.Path("coadd-demo.fits")
	if only {
		a.Note("wrote %s with library.h5, coadd-demo.fits, redrock-demo.fits and config.yaml", dir)
		return nil
	}
	step("%d fibers in %s: stars with known parameters, and a few objects that are not stars", fibers, file)
	flags := defaultFlags(dir.Path("config.yaml"))
	p, err := pipeline(a, &flags)
	if err != nil {
		return err
	}
	doc, err := fitDemoStars(ctx, a, p, file, string(dir), list, out, step)
	if err != nil {
		return err
	}
	step("the posterior of one star: NUTS, with the continuum integrated out")
	other := *a
	b := &other
	b.Out = dir.Path("posterior")
	b.Stdout, b.JSON = out, false
	cfg := sampleSpectrumConfig{ChainConfig: draws.DefaultChains(fitfile.Sampling()), Spectra: flags, Which: starFlags{Target: list[min(1, len(list)-1)].TargetID}}
	cfg.Warmup, cfg.Draws, cfg.Retries = 250, 400, 0
	if err := startSampleSpectrum(ctx, b, cfg, []string{file}); err != nil {
		return err
	}
	if a.JSON {
		doc["demo"], doc["folder"], doc["reports"] = "spectrum", string(dir), []string{dir.Path("report.html"), dir.Path("posterior", "report.html")}
		return a.Document(doc)
	}
	a.Print(`
Look at     %s
            %s
Tables      %s
Try next    euryale fit spectra --config %s %s --output_dir again --zbest_select
            euryale plot spectrum --config %[4]s %[5]s --row 2 star.png
`, dir.Path("report.html"), dir.Path("posterior", "report.html"), dir.Path("rvtab_coadd-demo.fits"), dir.Path("config.yaml"), file)
	return nil
}

// fitDemoStars fits the file, writes tables and a report, and prints how the fits compare with the truth.
func fitDemoStars(ctx context.Context, a *frame.App, p *fitfile.Pipeline, file, dir string, list []demo.Fiber, out io.Writer, step func(string, ...any)) (map[string]any, error) {
	truth := map[int64]demo.Fiber{}
	for _, f := range list {
		truth[f.TargetID] = f
	}
	page := report.SpectraFits{Files: []string{file}, Library: p.Library()}
	start := time.Now()
	const drawn = 64 // stars that the page has
	done, err := p.DESI(ctx, file, fitfile.DESIJob{Select: survey.Selection{WithRedshifts: true}, Table: dir + "/rvtab_coadd-demo.fits", Models: dir + "/rvmod_coadd-demo.fits", Command: a.Command, More: true,
		Software: [][2]string{{"euryale", frame.Version()}}, Failed: func(int, error) {}, Fitted: func(_ int64, star *spectra.Star, o *fitfile.Outcome) {
			if len(page.Stars) < drawn {
				page.Stars, page.Outcomes = append(page.Stars, *star), append(page.Outcomes, *o)
			}
		}})
	if err != nil {
		return nil, exit.With(exit.Failed, err)
	}
	step("%d of %d fibers were chosen and %d fitted in %.1f s; in %d the model disagrees with the data", done.Fibers, len(list), done.Fitted, time.Since(start).Seconds(), done.Misfits)
	t := foreign.Table(out, 0)
	fmt.Fprintln(t, "kind\tvel (km/s)\ttruth\tteff (K)\ttruth\tlogg\ttruth\tfeh\ttruth\tmodel")
	var docs []demoStarDoc
	sum, n := 0.0, 0
	for i, row := range done.Results.Rows {
		f := truth[done.Results.Source.TargetID[done.Results.Chosen.Rows[i]]]
		d := demoStarDoc{Target: f.TargetID, Kind: string(f.Kind), Agrees: row.Fitted && !row.Disagrees, Warning: row.WarningFlags}
		word := map[bool]string{true: "agrees", false: "disagrees"}[d.Agrees]
		if !row.Fitted {
			word = "not fitted"
		}
		names, x, sd := []string{"vel", "teff", "logg", "feh", "alpha"}, []float64{row.VRad, row.Teff, row.LogG, row.FeH, row.Alpha}, []float64{row.VRadErr, row.TeffErr, row.LogGErr, row.FeHErr, row.AlphaErr}
		if row.Fitted {
			d.Fit, d.SD = frame.Named(names, x), frame.Named(names, sd)
		}
		if len(f.Truth.Params) == 4 && row.Fitted {
			u := append([]float64{f.Truth.Vel}, f.Truth.Params...)
			d.Truth = frame.Named(names, u)
			if d.Agrees {
				pull := (x[0] - u[0]) / sd[0]
				sum, n = sum+pull*pull, n+1
			}
			fmt.Fprintf(t, "%s\t%s\t%.1f\t%s\t%.0f\t%s\t%.2f\t%s\t%.2f\t%s\n", f.Kind, report.PlusMinus(x[0], sd[0]), u[0], report.PlusMinus(x[1], sd[1]), u[1], report.PlusMinus(x[2], sd[2]), u[2], report.PlusMinus(x[3], sd[3]), u[3], word)
		} else if row.Fitted {
			fmt.Fprintf(t, "%s\t%s\t-\t%s\t-\t%s\t-\t%s\t-\t%s\n", f.Kind, report.PlusMinus(x[0], sd[0]), report.PlusMinus(x[1], sd[1]), report.PlusMinus(x[2], sd[2]), report.PlusMinus(x[3], sd[3]), word)
		} else {
			fmt.Fprintf(t, "%s\t-\t-\t-\t-\t-\t-\t-\t-\t%s\n", f.Kind, word)
		}
		docs = append(docs, d)
	}
	if err := t.Flush(); err != nil {
		return nil, exit.With(exit.CannotWrite, err)
	}
	rms := math.Sqrt(sum / float64(max(n, 1)))
	fmt.Fprintf(out, "differences of %d velocities from the truth, in standard deviations: rms %.2f\n", n, rms)
	return map[string]any{"stars": docs, "velocity_pull_rms": frame.Number(rms)}, exit.With(exit.CannotWrite, page.Page(a.Page(0)).Save(dir))
}
