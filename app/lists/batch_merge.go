// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/report"
)

func batchMerge(a *frame.App) *cobra.Command {
	return &cobra.Command{
		Use:   "merge FOLDER|CONFIG.yaml",
		Short: "Merge the results of all shards of a batch",
		Long: `Merge the results of a batch in its folder. This writes results.csv,
results.arrow and results.h5 with one row per item, failures.csv, summary.json
and report.html, which lists failures and suspicious results first. Batches of
chains also get the folder posterior, which summary, diagnose, plot and convert
can read; batches of spectra get results.fits.

The command refuses to merge while results are missing, and says which ones.
In the document (summary.json and --json), ok is false if an item failed, a
verdict is bad, or all results together show something wrong; finding says in
words what was found. With --strict, the exit code is then 1, after everything
has been written.

  euryale batch merge fits
  euryale batch merge fits --json --strict
`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runBatchMerge(a, args[0]) },
	}
}

// mergeDoc is the JSON document of batch merge, and summary.json.
type mergeDoc struct {
	batchDoc
	Failed    int64         `json:"failed"`
	Flagged   *int64        `json:"bad_verdicts"` // null if the work has no verdicts
	Finding   string        `json:"finding"`      // what was found, in words
	OK        bool          `json:"ok"`           // whether --strict would accept the results
	Columns   []columnDoc   `json:"columns"`
	Failures  []failureDoc  `json:"failures"`
	Outliers  []outlierDoc  `json:"outliers"`
	Summary   *draftSummary `json:"posterior,omitempty"`
	Files     []string      `json:"files"`
	Shards    int           `json:"shards"`
	SIMD      string        `json:"simd"`
	Device    string        `json:"device"`
	Seed      uint64        `json:"seed"`
	Completed bool          `json:"complete"`
}

// draftSummary is the posterior of chains.
type draftSummary struct {
	Rows   map[string]draws.RowDoc `json:"summary"`
	Chains int                     `json:"chains"`
	Draws  int                     `json:"draws"`
	Check  *frame.CheckDoc         `json:"model_check"`
}

type columnDoc struct {
	Name   string       `json:"name"`
	Unit   string       `json:"unit,omitempty"`
	Count  int64        `json:"items"`
	Mean   frame.Number `json:"mean"`
	SD     frame.Number `json:"sd"`
	Min    frame.Number `json:"min"`
	Low    frame.Number `json:"q25"`
	Median frame.Number `json:"q50"`
	High   frame.Number `json:"q75"`
	Max    frame.Number `json:"max"`
}

type failureDoc struct {
	Count int64   `json:"count"`
	First string  `json:"first"`
	Items []int64 `json:"items"`
}

type outlierDoc struct {
	Item int64  `json:"item"`
	Why  string `json:"why"`
}

func runBatchMerge(a *frame.App, name string) error {
	dir, m, err := openBatch(a, name)
	if err != nil {
		return err
	}
	g, err := work.Merge(m, batch.Store(filepath.Join(dir, resultsName)), dir, work.Env{Folder: dir})
	var incomplete *batch.IncompleteError
	switch {
	case errors.As(err, &incomplete):
		return &exit.Error{Code: exit.Data, Err: err, Hint: "euryale batch run " + dir}
	case errors.As(err, new(*batch.DiffersError)):
		return exit.With(exit.Data, err)
	case err != nil:
		return batchError(a, err, "euryale batch merge "+dir)
	}
	doc := mergeDocument(a, dir, g)
	page := a.Page(m.Seed)
	page.Device = m.Device
	if err := exit.With(exit.CannotWrite, report.Batch("batch: "+filepath.Base(dir), g, page).Save(dir)); err != nil {
		return err
	}
	doc.Files = append(doc.Files, "summary.json", "report.html")
	if err := frame.WriteJSON(filepath.Join(dir, "summary.json"), doc); err != nil {
		return err
	}
	if a.JSON {
		err = a.Document(doc)
	} else {
		err = printMerged(a, dir, g)
	}
	if err == nil && a.Strict {
		return strictMerge(g)
	}
	return err
}

func strictMerge(g *work.Merged) error {
	if g.Good() {
		return nil
	}
	return exit.With(exit.Failed, errors.New(strings.Join(g.Problems(), "; ")))
}

func mergeDocument(a *frame.App, dir string, g *work.Merged) mergeDoc {
	m := g.Manifest
	d := mergeDoc{batchDoc: batchDoc{Folder: dir, Manifest: m.Path(), SHA256: m.Hash, Work: m.Command, Items: m.Items}, Failed: g.Status.Failed, Finding: g.Conclusion(), OK: g.Good(),
		Columns: []columnDoc{}, Failures: []failureDoc{}, Outliers: []outlierDoc{}, Files: g.Files, Shards: len(g.Status.Shards), SIMD: m.SIMD, Device: m.Device, Seed: m.Seed, Completed: true}
	if g.Flagged >= 0 {
		d.Flagged = &g.Flagged
	}
	for _, s := range g.Summaries {
		d.Columns = append(d.Columns, columnDoc{s.Column.Name, s.Column.Unit, s.Count, frame.Number(s.Mean), frame.Number(s.SD), frame.Number(s.Min), frame.Number(s.Low), frame.Number(s.Median), frame.Number(s.High), frame.Number(s.Max)})
	}
	for _, f := range g.Failed {
		d.Failures = append(d.Failures, failureDoc{f.Count, f.Where, f.Items})
	}
	for _, o := range g.Outliers {
		d.Outliers = append(d.Outliers, outlierDoc{o.Item, o.Why})
	}
	if g.Fit != nil {
		d.Summary = &draftSummary{Rows: draws.SummaryDoc(g.Fit.Summary()), Chains: g.Fit.Chains(), Draws: g.Fit.Len(0), Check: frame.CheckDocument(g.Verdict)}
	}
	return d
}

// printMerged prints what there is to know about a batch, the bad news first.
func printMerged(a *frame.App, dir string, g *work.Merged) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, %d failed", errtext.Count(int(g.Status.Items), "item"), g.Manifest.Command, g.Status.Failed)
	if g.Flagged >= 0 {
		fmt.Fprintf(&b, ", %d with a bad verdict", g.Flagged)
	}
	if g.Flagged > 0 {
		fmt.Fprintf(&b, " (%s)", g.ByChance())
	}
	b.WriteString("\n")
	for _, f := range g.Failed[:min(5, len(g.Failed))] {
		times := errtext.Count(int(f.Count), "time")
		fmt.Fprintf(&b, "failed %s: %s\n", times, f.Where)
	}
	for _, o := range g.Outliers[:min(10, len(g.Outliers))] {
		fmt.Fprintf(&b, "item %d", o.Item)
		if where := g.Where(&o.Record); where != "" {
			fmt.Fprintf(&b, " (%s)", where)
		}
		fmt.Fprintf(&b, ": %s\n", o.Why)
	}
	if g.Fit != nil {
		fmt.Fprintln(&b, g.Fit.Summary())
	} else {
		for _, s := range g.Summaries {
			for _, name := range g.Values {
				if s.Column.Name == name && s.Count > 0 {
					line := fmt.Sprintf("%-16s median %.4g, half of them from %.4g to %.4g %s", name, s.Median, s.Low, s.High, s.Column.Unit)
					fmt.Fprintln(&b, strings.TrimSpace(line))
				}
			}
		}
	}
	if g.Ranks != nil {
		test, err := g.Ranks.Report()
		if err != nil {
			return exit.With(exit.Failed, err)
		}
		fmt.Fprintf(&b, "%v\n%s\n", test, strings.TrimSuffix(g.Finding, test.Diagnose().Verdict()))
	} else if g.Finding != "" {
		fmt.Fprintln(&b, g.Finding)
	}
	fmt.Fprintf(&b, "results and report.html in %s\n", dir)
	_, err := fmt.Fprint(a.Stdout, b.String())
	return exit.With(exit.CannotWrite, err)
}
