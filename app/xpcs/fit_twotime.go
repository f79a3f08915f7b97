// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/models/twotime/motion"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
)

// twotimeRunConfig is the content of config.json for fit twotime.
type twotimeRunConfig struct {
	Command  string         `json:"command"`
	Version  string         `json:"version"`
	File     string         `json:"file"`
	Seed     uint64         `json:"seed"`
	Starts   int            `json:"starts" default:"16" low:"1" high:"65536" about:"number of starting points to try; the best of them are fitted to convergence"`
	From     string         `json:"from,omitempty" about:"earlier result to start from, a folder or file of this command, homodyne, xpcsjax or heterodyne"`
	AllQ     bool           `json:"-" name:"all-q" about:"fit each q of the file on its own"`
	Twotime  motion.Request `json:"twotime"`
	Measured measuredDoc    `json:"measured"`
}

const (
	fitTwotimeCommand = "fit twotime"
	defaultStarts     = 16
)

func fitTwotime(a *frame.App) *cobra.Command {
	cfg := twotimeRunConfig{Command: fitTwotimeCommand}
	c := &cobra.Command{
		Use:   "twotime FILE",
		Short: "Fit models of motion to two-time correlations",
		Long: `Fit a model of motion to two-time correlations C2(t1, t2) at several azimuths:
diffusion, shear flow, or a flowing sample mixed with a static reference. The
fit is by least squares from several starting points. Its errors take into
account that entries of C2 share frames.

FILE holds correlations in an APS 8-ID layout (HDF5, old, new, or from euryale
correlate) or in a cache of homodyne (NPZ). It can also be a configuration file
of homodyne, xpcsjax or heterodyne (YAML or JSON) that names such a file. A fit
is at one q; with --all-q each q of the file is fitted, past any that fails.
With --out the results go to a folder, with the table fits.csv; its subfolder
nlsq has the layout of homodyne. --out FILE.csv, .xlsx or .parquet writes only
the table, which has a row for each parameter.

  euryale fit twotime A003_results.hdf --model laminar --q 0.0054 --gap 200um
  euryale fit twotime flow.yaml --out flow
  euryale fit twotime A003_results.hdf --all-q --out rings
  euryale fit twotime c2.npz --config flow.yaml --fixed D_offset=0 --json
  euryale fit twotime flow.yaml --from old_results --frames 101:400
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && cfg.Twotime.Config == "" {
				return exit.Usage("fit twotime needs input: name a file of two-time correlations or a configuration file")
			}
			return runFitTwotime(c.Context(), a, append(args, "")[0], cfg)
		},
	}
	frame.AddSettings(c, fitTwotimeCommand, &cfg.Twotime)
	frame.AddSettings(c, fitTwotimeCommand, &cfg)
	return c
}

func runFitTwotime(ctx context.Context, a *frame.App, file string, cfg twotimeRunConfig) error {
	if err := frame.CheckSettings(&cfg); err != nil {
		return err
	}
	if cfg.AllQ {
		return runFitRings(ctx, a, file, cfg)
	}
	var to frame.Outputs
	f, doc, err := fitOneQ(ctx, a, file, cfg, nil, func() (_ frame.Outputs, err error) {
		to, err = a.OpenOutputs(file)
		return to, err
	})
	if f == nil {
		return err
	}
	unwritten := err // what cannot be written is printed all the same
	if a.JSON {
		err = a.Document(doc)
	} else {
		err = printTwotimeFit(a, f, doc)
		if told := to.Told(); told != "" && unwritten == nil && err == nil {
			say(a, "%s", told)
		}
	}
	switch {
	case unwritten != nil:
		return unwritten
	case err != nil:
		return err
	}
	return strictlyTwotime(a, f)
}

// strictlyTwotime returns an error with --strict if a fit did not converge or the model disagrees with the data.
func strictlyTwotime(a *frame.App, f *motion.Fit) error {
	switch {
	case a.Strict && !f.Status.Converged():
		return exit.With(exit.Failed, fmt.Errorf("the fit did not converge: %s", f.Status))
	case a.Strict:
		return frame.Strictly(f.Verdict)
	}
	return nil
}

// fitOneQ fits at one q, also from the motion near, unless it is nil, and writes what open opens, which it calls once it has read the data. Where only writing failed it returns the fit with the error.
func fitOneQ(ctx context.Context, a *frame.App, file string, cfg twotimeRunConfig, near []float64, open func() (frame.Outputs, error)) (*motion.Fit, *motionFitDoc, error) {
	p, err := openTwotime(a, file, &cfg.Twotime)
	if err != nil {
		return nil, nil, err
	}
	if (cfg.Twotime.Contrast != "" || cfg.Twotime.Offset != "") && p.Config.Scaling != homodyne.ScalingConstant {
		return nil, nil, exit.Usage("--contrast and --offset are only for --scaling constant, but the scaling is %s", p.Config.Scaling)
	}
	penalties, err := cfg.Twotime.Penalties(p)
	if err != nil {
		return nil, nil, requestError(err)
	}
	if err := startFrom(a, p, cfg.From); err != nil {
		return nil, nil, err
	}
	to, err := open()
	if err != nil {
		return nil, nil, err
	}
	f, err := fitMotion(ctx, a, p, cfg.Starts, near, penalties)
	if err != nil {
		return nil, nil, err
	}
	doc := motionFitDocument(p.C2.File, f)
	doc.Device = a.Where()
	cfg.Version, cfg.Seed, cfg.File, cfg.Measured = frame.Version(), a.Seed, frame.Absolute(p.C2.File), measuredOf(p)
	return f, doc, saveTwotimeFit(a, to, f, doc, cfg)
}

// startFrom takes the starts from a result.
func startFrom(a *frame.App, p *motion.Problem, name string) error {
	if name == "" {
		return nil
	}
	s, err := homodyne.ReadStart(name)
	if err != nil {
		return exit.Input(err)
	}
	t := p.Data.Setup.Times
	if !p.Config.Customary {
		s = s.Physical(p.C2.Q, p.Config.Gap, t[len(t)-1])
	}
	notes, err := p.Config.StartAt(s)
	if err != nil {
		return exit.With(exit.Data, err)
	}
	for _, n := range slices.Concat(s.Notes, notes) {
		a.Note("%s", n)
	}
	return nil
}

// fitMotion fits, computes errors and judges.
func fitMotion(ctx context.Context, a *frame.App, p *motion.Problem, starts int, near []float64, penalties []twotime.Penalty) (*motion.Fit, error) {
	w := a.Waiting("fitting")
	defer w.Close()
	f, err := p.Fit(ctx, motion.FitSettings{Starts: starts, Near: near, Penalties: penalties, Threads: most(a), Seed: a.Seed, Backend: a.Backend(most(a)), Progress: w.Stage})
	switch {
	case ctx.Err() != nil:
		return nil, exit.With(exit.Interrupted, ctx.Err())
	case errors.Is(err, motion.ErrNoScale):
		return nil, exit.Usage("--scaling constant needs --contrast and --offset, or a configuration that has them")
	}
	return f, exit.With(exit.Data, err)
}

// noiseDoc is what makes the entries of an angle scatter.
type noiseDoc struct {
	Speckles  frame.Number `json:"speckles"`
	MeanCount frame.Number `json:"mean_count"` // of a pixel in a frame; "Infinity" if there is no shot noise
}

// motionPointDoc is a point in the space of parameters.
type motionPointDoc struct {
	Theta    []frame.Number `json:"theta"`
	Contrast []frame.Number `json:"contrast"`
	Offset   []frame.Number `json:"offset"`
}

func (d *motionPointDoc) point() twotime.Point {
	floats := func(v []frame.Number) (out []float64) {
		for _, x := range v {
			out = append(out, float64(x))
		}
		return out
	}
	return twotime.Point{Theta: floats(d.Theta), Contrast: floats(d.Contrast), Offset: floats(d.Offset)}
}

func pointDocOf(at twotime.Point) motionPointDoc {
	return motionPointDoc{frame.Numbers(at.Theta), frame.Numbers(at.Contrast), frame.Numbers(at.Offset)}
}

// motionFitDoc is the JSON document of fit twotime.
type motionFitDoc struct {
	Device      string                    `json:"device"` // where it was computed: see docs/guide/gpu.md
	Engine      string                    `json:"engine"`
	Model       homodyne.Model            `json:"model"`
	File        string                    `json:"file"`
	Q           frame.Number              `json:"q"`
	Phi         []frame.Number            `json:"phi"`
	Frames      [2]int                    `json:"frames"`
	Shear       string                    `json:"shear"`
	Origin      string                    `json:"time_origin"`
	Scaling     twotime.Scaling           `json:"scaling"`
	Compared    []string                  `json:"scalings_compared,omitempty"`
	Status      string                    `json:"status"`
	X           map[string]frame.Number   `json:"x"`
	SD          map[string]frame.Number   `json:"sd"` // that allow for shared frames
	Independent map[string]frame.Number   `json:"sd_independent"`
	Interval    map[string][]frame.Number `json:"interval95"`
	Names       []string                  `json:"names"`
	Units       map[string]string         `json:"units"` // of q, phi and the parameters
	Fixed       []string                  `json:"fixed"`
	ContrastSD  []frame.Number            `json:"contrast_sd"`
	OffsetSD    []frame.Number            `json:"offset_sd"`
	Point       motionPointDoc            `json:"point"`
	SSQ         frame.Number              `json:"ssq"`
	Points      int                       `json:"points"`
	Effective   frame.Number              `json:"effective_points"`
	Noise       []noiseDoc                `json:"noise"`
	Minima      []minimumDoc              `json:"other_minima"`
	Warnings    []string                  `json:"warnings"`
	Notes       []string                  `json:"notes"`
	Seconds     frame.Number              `json:"seconds"`
	Check       *frame.CheckDoc           `json:"model_check"`
}

// minimumDoc is another minimum of the sum of squares.
type minimumDoc struct {
	X   map[string]frame.Number `json:"x"`
	SSQ frame.Number            `json:"ssq"`
}

func motionFitDocument(file string, f *motion.Fit) *motionFitDoc {
	p, names := f.Problem, f.Problem.Config.Model.Names()
	d := &motionFitDoc{Engine: "twotime", Model: p.Config.Model, File: file, Q: frame.Number(p.C2.Q), Phi: frame.Numbers(p.C2.Phi), Frames: [2]int{p.C2.First, p.C2.Last}, Shear: shearText(p.Config), Origin: originText(p.Config),
		Scaling: f.Scaling, Compared: f.Compared, Status: f.Status.String(), X: map[string]frame.Number{}, SD: map[string]frame.Number{}, Independent: map[string]frame.Number{}, Interval: map[string][]frame.Number{}, Names: names, Units: map[string]string{"q": "1/A", "phi": "deg"}, Fixed: []string{},
		Point: pointDocOf(f.Point()), SSQ: frame.Number(f.SSQ), Points: f.Points, Effective: frame.Number(math.NaN()), Noise: []noiseDoc{}, Minima: []minimumDoc{}, Warnings: f.Warned(), Notes: f.Said(),
		Seconds: frame.Number(f.Seconds), Check: frame.CheckDocument(f.Verdict)}
	for _, row := range f.Rows() {
		d.X[row.Name], d.Units[row.Name] = frame.Number(row.Value), row.Unit
		if row.Fixed {
			d.Fixed = append(d.Fixed, row.Name)
			continue
		}
		d.SD[row.Name], d.Independent[row.Name] = frame.Number(row.SD), frame.Number(row.Independent)
		d.Interval[row.Name] = frame.Numbers(row.Interval[:])
	}
	for i, row := range f.Scales() {
		if i < len(p.C2.Phi) {
			d.ContrastSD = append(d.ContrastSD, frame.Number(row.SD))
		} else {
			d.OffsetSD = append(d.OffsetSD, frame.Number(row.SD))
		}
	}
	if f.Shared != nil {
		d.Effective = frame.Number(f.Shared.Effective)
		for _, n := range f.Shared.Noise {
			d.Noise = append(d.Noise, noiseDoc{frame.Number(n.Speckles), frame.Number(1 / n.InverseCount)})
		}
	}
	for _, m := range f.Others {
		d.Minima = append(d.Minima, minimumDoc{frame.Named(names, m.Theta), frame.Number(m.SSQ)})
	}
	return d
}

// saveTwotimeFit writes the run folder of a fit, or its table.
func saveTwotimeFit(a *frame.App, to frame.Outputs, f *motion.Fit, doc *motionFitDoc, cfg twotimeRunConfig) error {
	dir := to.Folder
	if dir == "" {
		return to.SaveParameters(a, doc)
	}
	m, err := f.Problem.Maps(f.Point())
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	if err := frame.WriteJSON(dir.Path(runs.ConfigFile), cfg); err != nil {
		return err
	}
	if err := keepCorrelations(dir, f.Problem); err != nil {
		return err
	}
	result := f.Result(m, "euryale "+frame.Version())
	result.Device = doc.Device
	if err := exit.With(exit.CannotWrite, result.Write(dir.Path("nlsq"), true)); err != nil {
		return err
	}
	if err := to.SaveParameters(a, doc); err != nil {
		return err
	}
	return a.WhileWaiting("drawing the report", func() error {
		return exit.With(exit.CannotWrite, report.TwotimeFit(doc.File, f, m, a.Page(a.Seed)).Save(string(dir)))
	})
}

// printTwotimeFit prints a fit as text.
func printTwotimeFit(a *frame.App, f *motion.Fit, doc *motionFitDoc) error {
	p := f.Problem
	say := func(format string, args ...any) { fmt.Fprintf(a.Stdout, format+"\n", args...) }
	say("%s: %s, q = %.5g 1/A, %s, frames %d to %d, %d entries, %s", doc.File, motion.ModelName(doc.Model), p.C2.Q, errtext.Count(len(p.C2.Phi), "angle"), p.C2.First, p.C2.Last, doc.Points, doc.Status)
	w := foreign.Table(a.Stdout, 0)
	fmt.Fprintln(w, "parameter\tvalue\terror\terror for independent entries\tunit")
	for _, row := range f.Rows() {
		value, sd, other := report.TwotimeTexts(row)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", row.Name, value, sd, other, row.Unit)
	}
	w.Flush()
	say("")
	fmt.Fprintln(w, "angle\tcontrast\toffset\tspeckles\tmean count")
	scales, n := f.Scales(), len(p.C2.Phi)
	for k, phi := range p.C2.Phi {
		text := func(row motion.Row) string {
			if row.Fixed {
				return fmt.Sprintf("%.6g fixed", row.Value)
			}
			return report.PlusMinus(row.Value, row.SD)
		}
		noise := "-\t-"
		if f.Shared != nil {
			noise = fmt.Sprintf("%.4g\t%.3g", f.Shared.Noise[k].Speckles, 1/f.Shared.Noise[k].InverseCount)
		}
		fmt.Fprintf(w, "%.4g\t%s\t%s\t%s\n", phi, text(scales[k]), text(scales[n+k]), noise)
	}
	if err := w.Flush(); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	say("")
	if f.Shared != nil {
		say("the %d entries carry as much information as %.0f independent ones", doc.Points, f.Shared.Effective)
	}
	if f.Compared != nil {
		say("contrast and offset are %s, by the Bayesian information criterion: %s", f.Scaling, joined(f.Compared))
	}
	for _, m := range doc.Minima {
		say("another minimum: sum of squares %.6g instead of %.6g at %s", float64(m.SSQ), float64(doc.SSQ), valuesText(p.Config.Model.Names(), m.X))
	}
	return a.PrintVerdict(doc.Check, doc.Warnings, doc.Notes)
}
