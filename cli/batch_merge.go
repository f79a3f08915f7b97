// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/report"
)

func (a *app) batchMerge() *cobra.Command {
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
		RunE: func(c *cobra.Command, args []string) error { return a.runBatchMerge(args[0]) },
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
	Rows   map[string]rowDoc `json:"summary"`
	Chains int               `json:"chains"`
	Draws  int               `json:"draws"`
	Check  *checkDoc         `json:"model_check"`
}

type columnDoc struct {
	Name   string `json:"name"`
	Unit   string `json:"unit,omitempty"`
	Count  int64  `json:"items"`
	Mean   number `json:"mean"`
	SD     number `json:"sd"`
	Min    number `json:"min"`
	Low    number `json:"q25"`
	Median number `json:"q50"`
	High   number `json:"q75"`
	Max    number `json:"max"`
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

func (a *app) runBatchMerge(name string) error {
	dir, m, err := a.openBatch(name)
	if err != nil {
		return err
	}
	g, err := work.Merge(m, batch.Store(filepath.Join(dir, resultsName)), dir, work.Env{Folder: dir})
	var incomplete *batch.IncompleteError
	switch {
	case errors.As(err, &incomplete):
		return &exitError{code: exitData, err: err, hint: "euryale batch run " + dir}
	case errors.As(err, new(*batch.DiffersError)):
		return as(exitData, err)
	case err != nil:
		return a.batchError(err, "euryale batch merge "+dir)
	}
	doc := a.mergeDocument(dir, g)
	page := a.page(m.Seed)
	page.Device = m.Device
	if err := as(exitCannotWrite, report.Batch("batch: "+filepath.Base(dir), g, page).Save(dir)); err != nil {
		return err
	}
	doc.Files = append(doc.Files, "summary.json", "report.html")
	if err := writeJSON(filepath.Join(dir, "summary.json"), doc); err != nil {
		return err
	}
	if a.json {
		err = a.document(doc)
	} else {
		err = a.printMerged(dir, g)
	}
	if err == nil && a.strict {
		return strictMerge(g)
	}
	return err
}

func strictMerge(g *work.Merged) error {
	if g.Good() {
		return nil
	}
	return as(exitFailed, errors.New(strings.Join(g.Problems(), "; ")))
}

func (a *app) mergeDocument(dir string, g *work.Merged) mergeDoc {
	m := g.Manifest
	d := mergeDoc{batchDoc: batchDoc{Folder: dir, Manifest: m.Path(), SHA256: m.Hash, Work: m.Command, Items: m.Items}, Failed: g.Status.Failed, Finding: g.Conclusion(), OK: g.Good(),
		Columns: []columnDoc{}, Failures: []failureDoc{}, Outliers: []outlierDoc{}, Files: g.Files, Shards: len(g.Status.Shards), SIMD: m.SIMD, Device: m.Device, Seed: m.Seed, Completed: true}
	if g.Flagged >= 0 {
		d.Flagged = &g.Flagged
	}
	for _, s := range g.Summaries {
		d.Columns = append(d.Columns, columnDoc{s.Column.Name, s.Column.Unit, s.Count, number(s.Mean), number(s.SD), number(s.Min), number(s.Low), number(s.Median), number(s.High), number(s.Max)})
	}
	for _, f := range g.Failed {
		d.Failures = append(d.Failures, failureDoc{f.Count, f.Where, f.Items})
	}
	for _, o := range g.Outliers {
		d.Outliers = append(d.Outliers, outlierDoc{o.Item, o.Why})
	}
	if g.Fit != nil {
		d.Summary = &draftSummary{Rows: summaryDoc(g.Fit.Summary()), Chains: g.Fit.Chains(), Draws: g.Fit.Len(0), Check: checkDocument(g.Verdict)}
	}
	return d
}

// printMerged prints what there is to know about a batch, the bad news first.
func (a *app) printMerged(dir string, g *work.Merged) error {
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
			return as(exitFailed, err)
		}
		fmt.Fprintf(&b, "%v\n%s\n", test, strings.TrimSuffix(g.Finding, test.Diagnose().Verdict()))
	} else if g.Finding != "" {
		fmt.Fprintln(&b, g.Finding)
	}
	fmt.Fprintf(&b, "results and report.html in %s\n", dir)
	_, err := fmt.Fprint(a.stdout, b.String())
	return as(exitCannotWrite, err)
}
