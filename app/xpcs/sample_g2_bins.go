// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/runs"
)

// posteriorsFile is the table of the posteriors of several bins.
const posteriorsFile = "posteriors.csv"

// posteriorsDoc is the JSON document of sample g2 of several bins.
type posteriorsDoc struct {
	Engine string             `json:"engine"`
	Model  string             `json:"model"`
	File   string             `json:"file"`
	Units  map[string]string  `json:"units"` // of q, phi, age and the parameters
	Bins   []g2Doc            `json:"bins"`
	Failed []posteriorLostDoc `json:"failed"`
}

// posteriorLostDoc is a bin that could not be sampled.
type posteriorLostDoc struct {
	Bin     int    `json:"bin"`
	Message string `json:"message"`
}

// sampleBins samples several bins one after another, each into a run folder of its own. Folders that hold a finished run are kept.
func sampleBins(c *cobra.Command, a *frame.App, cfg sampleConfig, bins string) error {
	ctx := c.Context()
	if c.Flags().Changed("bin") {
		return exit.Usage("--bin and --bins: give one of them")
	}
	model, s, err := cfg.G2.Resolve()
	if err != nil {
		return frame.SettingError(err)
	}
	s.Backend = a.Backend(1)
	curves, err := sampledCurves(ctx, a, cfg.File, model, s)
	if err == nil {
		curves, err = pickBins(cfg.File, curves, bins)
	}
	if err != nil {
		return err
	}
	out := cmp.Or(a.Out, "run-g2-"+model.Name)
	if table.Known(out) {
		return exit.Usage("--out %s: sample g2 writes folders of draws: name a folder", out)
	}
	if err := frame.MayFill(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	doc := posteriorsDoc{Engine: "g2", Model: model.Name, File: cfg.File, Units: fitUnits(model, curves[0]), Bins: []g2Doc{}, Failed: []posteriorLostDoc{}}
	lost := frame.LostOf("bin", len(curves))
	var verdict error
	for _, curve := range curves {
		dir := filepath.Join(out, fmt.Sprintf("bin-%d", curve.Bin))
		d, err := sampleBin(ctx, a, cfg, curve.Bin, dir)
		switch {
		case err != nil && d == nil:
			if err = fmt.Errorf("bin %d: %w", curve.Bin, err); !lost.Add(a, "", err) {
				return err
			}
			doc.Failed = append(doc.Failed, posteriorLostDoc{curve.Bin, exit.Text(err, nil)})
			continue
		case err != nil && verdict == nil: // a verdict, with --strict
			verdict = fmt.Errorf("bin %d: %w", curve.Bin, err)
		}
		doc.Bins = append(doc.Bins, *d)
	}
	if len(doc.Bins) > 0 {
		name := filepath.Join(out, posteriorsFile)
		if err := exit.With(exit.CannotWrite, posteriorsTable(doc).Save(name, true)); err != nil {
			return err
		}
		a.Note("wrote %s: %s", name, errtext.Count(len(doc.Bins), "bin"))
	}
	if a.JSON {
		if err := a.Document(doc); err != nil {
			return err
		}
	}
	if err := lost.Err("sampled"); err != nil {
		return err
	}
	return exit.With(exit.Failed, verdict)
}

// sampleBin samples one bin, or reads what was sampled before. It returns the document with the error of a verdict.
func sampleBin(ctx context.Context, a *frame.App, cfg sampleConfig, bin int, dir string) (*g2Doc, error) {
	summary := runs.Folder(dir).Path("summary.json")
	var before draws.ChainConfig
	if there(summary) && !a.Overwrite && runs.Folder(dir).Config(&before) == nil && before.Finished(runs.Folder(dir)) {
		var d g2Doc
		if err := runs.ReadJSON(summary, &d); err != nil {
			return nil, exit.With(exit.Data, err)
		}
		say(a, "bin %d: %s is finished and was kept; use --overwrite to sample again", bin, dir)
		return &d, nil
	}
	if checkpoint := runs.Folder(dir).Checkpoint(); checkpoint != "" && !a.Overwrite {
		return nil, &exit.Error{Code: exit.CannotWrite, Err: fmt.Errorf("%s holds a run that was interrupted", dir), Hint: frame.ResumeLine("sample g2", runs.Folder(dir)) + ", and then this command again"}
	}
	cfg.Bin = bin
	out, stdout := a.Out, a.Stdout
	defer func() { a.Out, a.Stdout = out, stdout }()
	a.Out = dir
	if a.JSON {
		a.Stdout = io.Discard // the document of all bins is printed at the end
	} else {
		say(a, "bin %d", bin)
	}
	err := startSampleG2(ctx, a, cfg)
	var d g2Doc
	if !there(summary) || err != nil && exit.CodeOf(err) != exit.Failed { // which is a verdict, with --strict
		return nil, err
	}
	if e := runs.ReadJSON(summary, &d); e != nil {
		return nil, exit.With(exit.Data, e)
	}
	return &d, err
}

// posteriorsTable has a row for each bin, with the mean, the standard deviation and the interval of 89 % of each parameter.
func posteriorsTable(doc posteriorsDoc) *table.Table {
	t := &table.Table{Name: "posteriors"}
	column := func(of func(d *g2Doc) float64) []float64 {
		var v []float64
		for i := range doc.Bins {
			v = append(v, of(&doc.Bins[i]))
		}
		return v
	}
	var bins []int64
	var words, folders []string
	names := map[string]bool{}
	for i := range doc.Bins {
		d := &doc.Bins[i]
		bins, words, folders = append(bins, int64(d.Bin)), append(words, d.Check.Verdict()), append(folders, d.Run)
		for name := range d.Summary {
			names[name] = true
		}
	}
	t.Add("bin", "", bins)
	if ages := column(func(d *g2Doc) float64 { return float64(d.Age) }); slices.Max(ages) > 0 {
		t.Add("age", "s", ages)
	}
	if q := column(func(d *g2Doc) float64 { return float64(d.Q) }); slices.ContainsFunc(q, func(v float64) bool { return !math.IsNaN(v) }) {
		t.Add("q", doc.Units["q"], q)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		row := func(of func(r *draws.RowDoc) frame.Number) []float64 {
			return column(func(d *g2Doc) float64 {
				if r, ok := d.Summary[name]; ok {
					return float64(of(&r))
				}
				return math.NaN()
			})
		}
		unit := doc.Units[name]
		t.Add(name, unit, row(func(r *draws.RowDoc) frame.Number { return r.Mean }))
		t.Add(name+"_sd", unit, row(func(r *draws.RowDoc) frame.Number { return r.SD }))
		t.Add(name+"_low89", unit, row(func(r *draws.RowDoc) frame.Number { return r.ETI89Lo }))
		t.Add(name+"_high89", unit, row(func(r *draws.RowDoc) frame.Number { return r.ETI89Hi }))
	}
	t.Add("model", "", words)
	t.Add("run", "", folders)
	return t
}
