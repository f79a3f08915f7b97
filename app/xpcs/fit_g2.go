// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/report"
)

func fitG2(a *frame.App) *cobra.Command {
	var f g2.Request
	var bins string
	c := &cobra.Command{
		Use:   "g2 FILE...",
		Short: "Fit correlation functions g2(tau) in every q bin",
		Long: `Fit correlation functions g2(tau) by least squares, all bins in parallel.

FILE is a result file in the APS 8-ID layout (HDF5), or a CSV table with the
columns tau (s), g2 and, if known, g2_err and bin. The power-law models fit
tau(q). From a result file they first fit a single exponential to every bin; in
a CSV table the columns tau and g2 then hold q (1/Angstrom) and tau (s).

With --out the results go to a folder, which has the table fits.csv with a row
for each bin. --out FILE.csv, .xlsx or .parquet writes only this table.

Several files are fitted one after another. A file that fails is reported, and
the others are still fitted. In the folder of --out every file then has its own
folder, and fits.csv lists all bins of all files. To spread files over many
machines, see euryale batch.

  euryale fit g2 A003_results.hdf
  euryale fit g2 A003_results.hdf --out tau.xlsx
  euryale fit g2 results/*_results.hdf --out fits
  euryale fit g2 A003_results.hdf --model stretched --bins 3,5-7 --json
  euryale fit g2 curve.csv --model aps_single --fixed d=1 --bounds a=0.1:0.5

The models, functions of the delay x in s or of q in 1/Angstrom, with the
default bounds of their parameters:

` + g2.DescribeBounds(),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage("fit g2 needs input: name one or more result files or CSV tables")
			}
			if len(args) > 1 {
				return runFitG2Files(c.Context(), a, args, f, bins)
			}
			return runFitG2(c.Context(), a, args[0], f, bins)
		},
	}
	frame.AddSettings(c, "fit g2", &f)
	c.Flags().StringVar(&bins, "bins", "all", "bins to fit, such as 3,5-7")
	return c
}

// fitDoc is the JSON document of fit g2.
type fitDoc struct {
	Engine string `json:"engine"`
	Model  string `json:"model"`
	File   string `json:"file"`
	Device string `json:"device"` // where the residuals were computed
	// Axis is the name of the quantity in q, if it is not q, and Units are the units of q, phi, age and the parameters.
	Axis  string            `json:"axis,omitempty"`
	Units map[string]string `json:"units"`
	Bins  []binDoc          `json:"bins"`
}

type binDoc struct {
	Bin      int                     `json:"bin"`
	Q        frame.Number            `json:"q"`
	Phi      frame.Number            `json:"phi"`
	Age      frame.Number            `json:"age,omitempty"` // s
	Status   string                  `json:"status"`
	Message  string                  `json:"message"`
	X        map[string]frame.Number `json:"x"`
	SD       map[string]frame.Number `json:"sd"`
	Absolute map[string]frame.Number `json:"sd_absolute"`
	Scaled   map[string]frame.Number `json:"sd_scaled"`
	Cost     frame.Number            `json:"cost"`
	Reduced  frame.Number            `json:"chi2_reduced"`
	NFev     int                     `json:"nfev"`
	Active   map[string]int          `json:"active"`
	Warnings []string                `json:"warnings"`
	Check    *frame.CheckDoc         `json:"model_check"`
}

func runFitG2(ctx context.Context, a *frame.App, path string, f g2.Request, bins string) error {
	model, s, err := f.Resolve()
	if err != nil {
		return frame.SettingError(err)
	}
	var to frame.Outputs
	open := func() (_ frame.Outputs, err error) {
		to, err = a.OpenOutputs(path)
		return to, err
	}
	doc, fits, err := fitG2File(ctx, a, path, open, model, s, bins)
	if fits == nil {
		return err
	}
	unwritten := err // what cannot be written is printed all the same
	if a.JSON {
		err = a.Document(doc)
	} else {
		err = exit.With(exit.CannotWrite, report.WriteFits(a.Stdout, model, fits, a.Verbose))
		if told := to.Told(); told != "" && unwritten == nil {
			say(a, "%s", told)
		}
	}
	switch {
	case unwritten != nil:
		return unwritten
	case err != nil:
		return err
	}
	return verdictOn(fits, a.Strict)
}

// fitG2File fits the bins of a file, and writes what open opens, which it calls once it has read the file. Where only writing failed it
// returns the fits with the error.
func fitG2File(ctx context.Context, a *frame.App, path string, open func() (frame.Outputs, error), model g2.Model, s g2.Settings, bins string) (doc fitDoc, fits []g2.Fit, err error) {
	defer given.Caught(&err) // of a user's model, so that the other files are fitted
	s.Threads, s.Backend = a.Threads, a.Backend(1)
	curves, err := loadCurves(path)
	if err != nil {
		return fitDoc{}, nil, err
	}
	if curves, err = pickBins(path, curves, bins); err != nil {
		return fitDoc{}, nil, err
	}
	to, err := open()
	if err != nil {
		return fitDoc{}, nil, err
	}
	if curves, err = againstQ(ctx, a, model, curves, s); err != nil {
		return fitDoc{}, nil, err
	}
	fits, err = g2.FitAll(ctx, model, curves, s)
	if err != nil {
		if ctx.Err() != nil {
			return fitDoc{}, nil, exit.With(exit.Interrupted, err)
		}
		return fitDoc{}, nil, exit.With(exit.WrongUsage, err)
	}
	doc = documentOf(model, path, fits)
	if err := to.Save(a, doc, fitsTable(doc)); err != nil || to.Folder == "" {
		return doc, fits, err
	}
	page := a.Page(0)
	page.Device = doc.Device
	return doc, fits, a.WhileWaiting("drawing the report", func() error {
		return exit.With(exit.CannotWrite, report.CurveFits(path, model, fits, page).Save(string(to.Folder)))
	})
}

// verdictOn returns an error if no bin could be fitted or, with strict, if the fit of any
// bin failed, disagrees with the data or could not be judged.
func verdictOn(fits []g2.Fit, strict bool) error {
	bad, misfit, unjudged, usable := 0, 0, 0, 0
	for _, f := range fits {
		if !f.OK() {
			bad++
		} else if slices.ContainsFunc(f.Check.Flags, func(m check.Flag) bool { return m.Kind == check.KindUnjudged }) {
			unjudged++
		} else if !f.Check.OK {
			misfit++
		}
		if f.Status != "failed" {
			usable++
		}
	}
	switch {
	case usable == 0 && len(fits) > 0:
		return exit.With(exit.Data, fmt.Errorf("%s could not be fitted: %s", allBins(len(fits)), fits[0].Message))
	case strict && bad > 0:
		return exit.With(exit.Failed, fmt.Errorf("%d of %d bins did not converge: see their messages", bad, len(fits)))
	case strict && misfit > 0:
		return exit.With(exit.Failed, fmt.Errorf("in %d of %d bins the model disagrees with the data: see the lines that begin with the bin, or model_check in the JSON document", misfit, len(fits)))
	case strict && unjudged > 0:
		return exit.With(exit.Failed, fmt.Errorf("in %d of %d bins the model could not be judged: see the lines that begin with the bin, or model_check in the JSON document", unjudged, len(fits)))
	}
	return nil
}

// allBins names the bins of a file.
func allBins(n int) string {
	if n == 1 {
		return "the only bin"
	}
	return fmt.Sprintf("all %d bins", n)
}

// againstQ turns the bins of a result file into one curve tau(q) by single-exponential
// fits, if the model is a function of q.
func againstQ(ctx context.Context, a *frame.App, model g2.Model, curves []g2.Curve, s g2.Settings) ([]g2.Curve, error) {
	if model.Of != "q" || len(curves) == 0 || math.IsNaN(curves[0].Q) {
		return curves, nil
	}
	single, err := g2.ByName("single")
	if err != nil {
		return nil, err
	}
	fits, err := g2.FitAll(ctx, single, curves, g2.Settings{Threads: s.Threads, Backend: s.Backend})
	if err != nil {
		return nil, err
	}
	c := g2.TauOfQ(fits)
	a.Note("%d of %d bins give a relaxation time", len(c.X), len(curves))
	if bad := misfits(fits); len(bad) > 0 {
		a.Note("%d of these %s from a fit of a single exponential that disagrees with g2 (%s %s), and may be wrong by more than %s: leave such bins out with --bins, or look at fit g2 of them", len(bad), errtext.Agree(len(bad), "comes", "come each"),
			errtext.Agree(len(bad), "bin", "bins"), strings.Join(bad, ", "), errtext.Agree(len(bad), "its error", "their errors"))
	}
	return []g2.Curve{c}, nil
}

// misfits returns the bins whose fit gives a relaxation time and disagrees with the data.
func misfits(fits []g2.Fit) (bins []string) {
	for _, f := range fits {
		if f.OK() && len(g2.TauOfQ([]g2.Fit{f}).X) == 1 && len(f.Check.Flags) > 0 {
			bins = append(bins, fmt.Sprint(f.Curve.Bin))
		}
	}
	return bins
}

func documentOf(model g2.Model, path string, fits []g2.Fit) fitDoc {
	doc := fitDoc{Engine: "g2", Model: model.Name, File: path, Units: fitUnits(model, g2.Curve{})}
	if len(fits) > 0 {
		doc.Axis, doc.Units = fits[0].Curve.Axis, fitUnits(model, fits[0].Curve)
	}
	var names []string
	for _, p := range model.Params {
		names = append(names, p.Name)
	}
	for _, f := range fits {
		if doc.Device == "" || f.Device != "cpu" {
			doc.Device = f.Device
		}
		doc.Bins = append(doc.Bins, binDoc{Bin: f.Curve.Bin, Q: frame.Number(f.Curve.Q), Phi: frame.Number(f.Curve.Phi), Age: frame.Number(f.Curve.Age), Status: f.Status, Message: f.Message,
			X: frame.Named(names, f.X), SD: frame.Named(names, f.SD), Absolute: frame.Named(names, f.Absolute), Scaled: frame.Named(names, f.Scaled),
			Cost: frame.Number(f.Cost), Reduced: frame.Number(f.ReducedChiSquared), NFev: f.NFev, Active: activeOf(names, f), Warnings: append([]string{}, f.Warnings...), Check: checkOf(f)})
	}
	return doc
}

// checkOf returns the verdict about a fit, or nil for a bin that could not be fitted.
func checkOf(f g2.Fit) *frame.CheckDoc {
	if f.Status == "failed" {
		return nil
	}
	return frame.CheckDocument(f.Check)
}

// activeOf returns the parameters that lie on a bound.
func activeOf(names []string, f g2.Fit) map[string]int {
	out := map[string]int{}
	for i, n := range names {
		if i < len(f.Active) && f.Active[i] != 0 {
			out[n] = f.Active[i]
		}
	}
	return out
}
