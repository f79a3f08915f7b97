// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/data/arrow"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// The names of the files that Merge writes.
const (
	TableCSV   = "results.csv"
	TableArrow = "results.arrow"
	TableHDF5  = "results.h5"
	TableFITS  = "results.fits" // table of spectra, in DESI's format
	Failures   = "failures.csv"
)

// Merged describes the merged results of a whole list.
type Merged struct {
	Manifest *batch.Manifest
	Status   *batch.Status
	Columns  []batch.Column
	// Summaries has one entry for every column of numbers.
	Summaries []Summary
	// Failed lists the kinds of failures, the most frequent first.
	Failed []Failure
	// Flagged is the number of items with a bad verdict. It is -1 if the work gives no verdicts.
	Flagged int64
	// Outliers are the items to look at first, at most 200 of them: those with the worst verdicts, then
	// those that differ most from the others.
	Outliers []Outlier
	// Sample holds the results of some items in order, or of all items if there are at most 100,000.
	Sample []batch.Record
	// Values names the columns that were searched for outliers and are worth plotting.
	Values []string
	// Finding is what the kind of work concludes from all results together. It is empty if there is no
	// conclusion.
	Finding string
	// OK reports whether Finding is good news. It says nothing about single items; see Good.
	OK bool
	// Fit and Verdict are the posterior of chains and the verdict about its model. Fit is nil for other
	// kinds of work.
	Fit     *infer.Fit
	Verdict check.Verdict
	// Ranks are the ranks of a calibration. It is nil for other kinds of work.
	Ranks *infer.Calibration
	// Files lists the files that were written, relative to the folder.
	Files []string
}

// Summary describes a column of numbers over all items that have a value. The median and quartiles are
// computed from the sample.
type Summary struct {
	Column     batch.Column
	Count, NaN int64
	Mean, SD   float64
	// Min is the minimum, and Low, Median and High are the lower quartile, the median and the upper
	// quartile.
	Min, Low, Median, High float64
	Max                    float64
	places                 int // column among the numbers
}

// Failure is one error text, with the items that failed with it.
type Failure struct {
	Text  string
	Count int64
	Items []int64 // first few items that failed
	Where string  // source of the first item that failed
}

// Outlier is an item that deserves a look.
type Outlier struct {
	batch.Record
	Why   string
	score float64
}

const (
	mostSample   = 100_000
	mostOutliers = 200
	// farAway is the distance from the median, in robust standard deviations, of an outlier.
	farAway = 6
)

// judged is a job with verdicts.
type judged interface {
	// judge returns how bad the verdict about a result is, above 0 for a bad one, and why.
	judge(r *batch.Record) (badness float64, why string)
}

// valued is a job that names the columns that are worth a look.
type valued interface{ values() []string }

// concluding is a job that says something of all results together.
type concluding interface {
	// conclude fills Finding, OK and what else it knows, and may add Files to the folder. each gives all
	// results in their order, failures among them.
	conclude(g *Merged, env Env, folder string, each func(put func(batch.Record) error) error) error
}

// catalogued is a job whose results are also a FITS table, of which it says the name.
type catalogued interface{ extension() string }

// Merge merges the results of all shards and writes them to a folder: as CSV, Arrow and HDF5 tables
// with one row per item, for spectra also as a FITS table, and as a table of the failures. While items
// have no result, it returns a [*batch.IncompleteError] and writes nothing. It holds a sample of the
// results and one column at a time in memory.
func Merge(m *batch.Manifest, store batch.Store, folder string, env Env) (*Merged, error) {
	task, err := Open(m, env)
	if err != nil {
		return nil, err
	}
	j, err := settingsOf(m)
	if err != nil {
		return nil, err
	}
	g := &merging{Merged: &Merged{Manifest: m, Columns: task.Columns(), Flagged: -1, OK: true, Values: []string{}}, job: j, stride: 1}
	for i, c := range g.Columns {
		if c.Kind != batch.Text {
			g.Summaries = append(g.Summaries, Summary{Column: c, Min: math.Inf(1), Max: math.Inf(-1), places: g.number(i)})
		}
	}
	if v, ok := j.(valued); ok {
		g.Values = v.values()
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	for _, name := range []string{TableCSV, Failures} {
		if err := ours(filepath.Join(folder, name)); err != nil {
			return nil, err
		}
	}
	if err := g.tables(store, folder); err != nil {
		return nil, err
	}
	g.summarise()
	if err := g.findOutliers(store); err != nil {
		return nil, err
	}
	if c, ok := j.(concluding); ok {
		each := func(put func(batch.Record) error) error { _, err := store.Merge(m, put); return err }
		if err := c.conclude(g.Merged, env.completed(m), folder, each); err != nil {
			return nil, err
		}
	}
	return g.Merged, nil
}

// ours refuses to write a table over a file that is none: the folder may be one in which the user has files.
func ours(name string) error {
	f, err := foreign.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	begin := make([]byte, 4)
	if n, _ := io.ReadFull(f, begin); n > 0 && string(begin) != "item" {
		return &fs.PathError{Op: "write", Path: name, Err: errors.New("the file is not a table of results: move it, or make the list in another folder (--out)")}
	}
	return nil
}

// merging is Merge on its way.
type merging struct {
	*Merged
	job     job
	stride  int64 // of the sample
	sources sourceReader
}

// number returns the place of a column among the numbers of a record, or among its texts.
func (g *merging) number(column int) (place int) {
	for _, c := range g.Columns[:column] {
		if (c.Kind == batch.Text) == (g.Columns[column].Kind == batch.Text) {
			place++
		}
	}
	return place
}

// tables reads all results once and writes the tables.
func (g *merging) tables(store batch.Store, folder string) error {
	spool, err := newSpool(folder, g.Columns)
	if err != nil {
		return err
	}
	defer spool.remove()
	columns := []arrow.Column{{Name: "item", Type: arrow.Int64}}
	for _, c := range g.Columns {
		columns = append(columns, arrow.Column{Name: c.Name, Type: map[batch.Kind]arrow.Type{batch.Number: arrow.Float64, batch.Integer: arrow.Int64, batch.Text: arrow.Text}[c.Kind]})
	}
	table, err := arrow.CreateTable(filepath.Join(folder, TableArrow), columns, arrow.Settings{Overwrite: true, Attrs: g.attributes()})
	if err != nil {
		return err
	}
	defer table.Discard()
	g.sources.segments = g.Manifest.Segments
	defer g.sources.close()
	return atomicfile.Write(filepath.Join(folder, TableCSV), true, func(all io.Writer) error {
		return atomicfile.Write(filepath.Join(folder, Failures), true, func(failures io.Writer) error {
			good, bad := foreign.CSV(all), foreign.CSV(failures)
			good.Write(g.header())
			bad.Write([]string{"item", "source", "row", "attempts", "error"})
			var row []float64
			texts := 0
			for _, c := range g.Columns {
				if c.Kind == batch.Text {
					texts++
				}
			}
			g.Status, err = store.Merge(g.Manifest, func(r batch.Record) error {
				if r.Err != "" {
					return g.fail(r, bad)
				}
				if len(r.Texts) != texts || len(r.Numbers) != len(g.Columns)-texts {
					return fmt.Errorf("the result of item %d has %d numbers and %d texts, but this version of the program writes %d and %d: merge with the version that made the results, or remove them and run again", r.Item, len(r.Numbers), len(r.Texts), len(g.Columns)-texts, texts)
				}
				g.take(&r)
				row = append(append(row[:0], float64(r.Item)), r.Numbers...)
				if err := table.AppendRow(row, r.Texts); err != nil {
					return err
				}
				if err := spool.add(&r); err != nil {
					return err
				}
				return good.Write(g.row(&r))
			})
			good.Flush()
			bad.Flush()
			if err = cmp.Or(err, good.Error(), bad.Error()); err != nil {
				return err
			}
			if err := table.Close(); err != nil {
				return err
			}
			g.Files = append(g.Files, TableCSV, TableArrow, TableHDF5, Failures)
			if err := spool.write(filepath.Join(folder, TableHDF5), g.attributes()); err != nil {
				return err
			}
			if c, ok := g.job.(catalogued); ok {
				g.Files = append(g.Files, TableFITS)
				return spool.fits(filepath.Join(folder, TableFITS), c.extension(), g.Manifest)
			}
			return nil
		})
	})
}

// attributes say what a table is of.
func (g *merging) attributes() map[string]string {
	m := g.Manifest
	return map[string]string{"command": m.Command, "manifest_sha256": m.Hash, "seed": strconv.FormatUint(m.Seed, 10), "simd": m.SIMD, "device": m.Device, "settings": string(m.Settings)}
}

func (g *merging) header() []string {
	names := []string{"item"}
	for _, c := range g.Columns {
		names = append(names, c.Name)
	}
	return names
}

// row writes a result as texts, in the order of the columns.
func (g *merging) row(r *batch.Record) []string {
	out := []string{strconv.FormatInt(r.Item, 10)}
	numbers, texts := r.Numbers, r.Texts
	for _, c := range g.Columns {
		switch c.Kind {
		case batch.Text:
			out, texts = append(out, texts[0]), texts[1:]
		case batch.Integer:
			out, numbers = append(out, strconv.FormatInt(int64(numbers[0]), 10)), numbers[1:]
		default:
			out, numbers = append(out, strconv.FormatFloat(numbers[0], 'g', -1, 64)), numbers[1:]
		}
	}
	return out
}

// fail notes an item without a result.
func (g *merging) fail(r batch.Record, out *foreign.Rows) error {
	source, row, err := g.sources.of(r.Item)
	if err != nil {
		return err
	}
	text, _, _ := strings.Cut(r.Err, "\n")
	key := digits.ReplaceAllString(text, "#") // failures that differ in a number are of one kind
	i := slices.IndexFunc(g.Failed, func(f Failure) bool { return f.Text == key })
	if i < 0 && len(g.Failed) < mostOutliers {
		i, g.Failed = len(g.Failed), append(g.Failed, Failure{Text: key, Where: fmt.Sprintf("%s, row %d: %s", source, row+1, text)})
	}
	if i >= 0 {
		f := &g.Failed[i]
		if f.Count++; len(f.Items) < 5 {
			f.Items = append(f.Items, r.Item)
		}
	}
	return out.Write([]string{strconv.FormatInt(r.Item, 10), source, strconv.FormatInt(row+1, 10), strconv.Itoa(r.Attempts), r.Err})
}

// take adds a result to the summaries and to the sample.
func (g *merging) take(r *batch.Record) {
	for i := range g.Summaries {
		s := &g.Summaries[i]
		v := r.Numbers[s.places]
		if !linalg.Finite(v) {
			s.NaN++
			continue
		}
		s.Count++
		d := v - s.Mean
		s.Mean += d / float64(s.Count)
		s.SD += d * (v - s.Mean)
		s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	}
	if j, ok := g.job.(judged); ok {
		g.Flagged = max(g.Flagged, 0)
		if bad, why := j.judge(r); bad > 0 {
			g.Flagged++
			g.outlier(Outlier{Record: *r, Why: why, score: 1e6 + bad})
		}
	}
	if r.Item%g.stride != 0 {
		return
	}
	if len(g.Sample) == mostSample {
		g.stride *= 2
		g.Sample = slices.DeleteFunc(g.Sample, func(o batch.Record) bool { return o.Item%g.stride != 0 })
		if r.Item%g.stride != 0 {
			return
		}
	}
	g.Sample = append(g.Sample, *r)
}

// summarise finishes the summaries.
func (g *merging) summarise() {
	for i := range g.Summaries {
		s := &g.Summaries[i]
		if s.Count == 0 {
			s.Mean, s.SD, s.Min, s.Low, s.Median, s.High, s.Max = math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
			continue
		}
		s.SD = math.Sqrt(s.SD / float64(max(1, s.Count-1)))
		v := g.sorted(s.places)
		if len(v) == 0 {
			v = []float64{s.Mean}
		}
		s.Low, s.Median, s.High = v[len(v)/4], v[len(v)/2], v[3*len(v)/4]
	}
}

// sorted returns the finite numbers of a column in the sample, in their order.
func (g *merging) sorted(place int) (v []float64) {
	for _, r := range g.Sample {
		if linalg.Finite(r.Numbers[place]) {
			v = append(v, r.Numbers[place])
		}
	}
	slices.Sort(v)
	return v
}

// findOutliers looks for results that are far from the others, on a logarithmic scale if all numbers are
// positive.
func (g *merging) findOutliers(store batch.Store) error {
	type scale struct {
		name        string
		place       int
		log         bool
		middle, mad float64
	}
	var scales []scale
	for _, s := range g.Summaries {
		if !slices.Contains(g.Values, s.Column.Name) || s.Count < 10 {
			continue
		}
		c := scale{name: s.Column.Name, place: s.places, log: s.Min > 0}
		v := g.sorted(s.places)
		if c.log {
			for i := range v {
				v[i] = math.Log(v[i])
			}
		}
		c.middle = v[len(v)/2]
		for i := range v {
			v[i] = math.Abs(v[i] - c.middle)
		}
		slices.Sort(v)
		if c.mad = 1.4826 * v[len(v)/2]; c.mad > 0 {
			scales = append(scales, c)
		}
	}
	look := func(r batch.Record) error {
		if r.Err != "" {
			return nil
		}
		best := Outlier{Record: r}
		for _, c := range scales {
			v := r.Numbers[c.place]
			x := v
			if c.log {
				x = math.Log(v)
			}
			if z := (x - c.middle) / c.mad; math.Abs(z) > max(farAway, best.score) && linalg.Finite(z) {
				best.score = math.Abs(z)
				side := "above"
				if z < 0 {
					side = "below"
				}
				best.Why = fmt.Sprintf("%s = %.4g is %.1f robust standard deviations %s the median", c.name, v, math.Abs(z), side)
			}
		}
		if best.score > 0 {
			g.outlier(best)
		}
		return nil
	}
	if len(scales) > 0 {
		if g.stride > 1 {
			if _, err := store.Merge(g.Manifest, look); err != nil {
				return err
			}
		}
		for _, r := range g.Sample {
			if g.stride == 1 {
				look(r)
			}
		}
	}
	g.trim()
	slices.SortFunc(g.Failed, func(a, b Failure) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text)) })
	return nil
}

// outlier keeps an item if it is among the farthest. An item has the worse of its reasons.
func (g *merging) outlier(o Outlier) {
	if g.Outliers = append(g.Outliers, o); len(g.Outliers) >= 4*mostOutliers {
		g.trim()
	}
}

func (g *merging) trim() {
	slices.SortStableFunc(g.Outliers, func(a, b Outlier) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Item, b.Item)) })
	seen := map[int64]bool{}
	g.Outliers = slices.DeleteFunc(g.Outliers, func(o Outlier) bool {
		again := seen[o.Item]
		seen[o.Item] = true
		return again
	})
	g.Outliers = g.Outliers[:min(len(g.Outliers), mostOutliers)]
}
