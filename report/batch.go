// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
	"github.com/euryale-dev/euryale/viz"
)

// Batch returns the page of the merged results of a batch: the verdict, what failed, the items to look at
// first, the distributions of the results, and the posterior of chains.
func Batch(title string, g *work.Merged, s Settings) *Page {
	m := g.Manifest
	b := &Album{Note: s.Note, DPI: s.DPI}
	p := &Page{Report: viz.Report{Title: title, Summary: g.Finding}}
	if g.Fit != nil {
		p = Posterior(title, g.Fit, g.Verdict, s)
		p.Summary, b = g.Finding, &p.Album
	}
	s.Device = m.Device
	facts := []viz.Fact{{Name: "work", Value: m.Command}, {Name: "items", Value: fmt.Sprint(m.Items)},
		{Name: "failed", Value: fmt.Sprint(g.Status.Failed), Verdict: verdictIf(g.Status.Failed == 0)}}
	if g.Flagged >= 0 {
		facts = append(facts, viz.Fact{Name: "bad verdicts", Value: fmt.Sprint(g.Flagged), Verdict: verdictIf(g.Flagged == 0)})
	}
	if g.Finding != "" {
		facts = append(facts, viz.Fact{Name: "all results together", Value: g.Finding, Verdict: verdictIf(g.OK)})
	}
	facts = append(facts, viz.Fact{Name: "seed", Value: fmt.Sprint(m.Seed)}, viz.Fact{Name: "instruction set", Value: m.SIMD}, viz.Fact{Name: "manifest", Value: m.Hash[:12]})
	if p.Facts == nil {
		facts = s.facts(facts)
	}
	p.Facts = append(facts, p.Facts...)
	var first []viz.Section
	if len(g.Failed) > 0 {
		first = append(first, viz.Section{Title: "What failed", Text: "Errors that differ only in their numbers are counted together. All errors are in " + work.Failures + ".", Tables: []string{failures(g)}})
	}
	if len(g.Outliers) > 0 {
		text := "The items with the worst verdicts come first, then those that are farthest from the others."
		if g.Flagged > 0 {
			text += fmt.Sprintf(" The number of bad verdicts is %d (%s).", g.Flagged, g.ByChance())
		}
		first = append(first, viz.Section{Title: "Look at these first", Text: text, Tables: []string{outliers(g)}})
	}
	if g.Fit == nil {
		results := viz.Section{Title: "Results", Tables: []string{summaries(g)}}
		if m.Command == "sweep" && len(g.Sample) <= mostPoints {
			results.Tables = append([]string{points(g)}, results.Tables...)
		}
		before := len(b.Figures())
		distributions(g, b)
		results.Figures = b.Figures()[before:]
		first = append(first, results)
	}
	p.Sections = append(first, p.Sections...)
	p.Album = *b
	return p
}

func verdictIf(good bool) viz.Verdict {
	if good {
		return viz.Good
	}
	return viz.Bad
}

// table writes an HTML table of texts, in which columns of words begin on the left.
func table(header []string, rows [][]string) string {
	var b strings.Builder
	cell := func(tag string, column int, text string) {
		style := ""
		if slices.Contains([]string{"source", "reason", "source of the first one", "first few items"}, header[column]) {
			style = ` style="text-align:left"`
		}
		b.WriteString("<" + tag + style + ">" + html.EscapeString(text) + "</" + tag + ">")
	}
	b.WriteString("<table><thead><tr>")
	for i, h := range header {
		cell("th", i, h)
	}
	b.WriteString("</tr></thead><tbody>")
	for _, r := range rows {
		b.WriteString("<tr>")
		for i, c := range r {
			cell("td", i, c)
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	return b.String()
}

func failures(g *work.Merged) string {
	var rows [][]string
	for _, f := range g.Failed[:min(len(g.Failed), 50)] {
		rows = append(rows, []string{fmt.Sprint(f.Count), f.Where, strings.Trim(fmt.Sprint(f.Items), "[]")})
	}
	return table([]string{"number of items", "source of the first one", "first few items"}, rows)
}

func outliers(g *work.Merged) string {
	header := []string{"item", "source", "reason"}
	for _, c := range g.Columns {
		if c.Kind != batch.Text && c.Name != "bin" {
			header = append(header, c.Name)
		}
	}
	var rows [][]string
	for _, o := range g.Outliers[:min(len(g.Outliers), 50)] {
		row := []string{fmt.Sprint(o.Item), g.Where(&o.Record), o.Why}
		numbers := o.Numbers
		for _, c := range g.Columns {
			if c.Kind == batch.Text {
				continue
			}
			if c.Name != "bin" {
				row = append(row, number(numbers[0]))
			}
			numbers = numbers[1:]
		}
		rows = append(rows, row)
	}
	return table(header, rows)
}

// mostPoints is the number of points of a sweep up to which the page has a table of them all.
const mostPoints = 100

// points is the table of a small sweep: the parameters and what was taken.
func points(g *work.Merged) string {
	header := []string{"item"}
	for _, c := range g.Columns {
		header = append(header, c.Name)
	}
	var rows [][]string
	for _, r := range g.Sample {
		row, numbers, texts := []string{fmt.Sprint(r.Item)}, r.Numbers, r.Texts
		for _, c := range g.Columns {
			if c.Kind == batch.Text {
				row, texts = append(row, texts[0]), texts[1:]
			} else {
				row, numbers = append(row, number(numbers[0])), numbers[1:]
			}
		}
		rows = append(rows, row)
	}
	return table(header, rows)
}

func summaries(g *work.Merged) string {
	var rows [][]string
	for _, s := range g.Summaries {
		row := []string{s.Column.Name, s.Column.Unit, fmt.Sprint(s.Count), fmt.Sprint(s.NaN)}
		for _, v := range []float64{s.Median, s.Low, s.High, s.Mean, s.SD, s.Min, s.Max} {
			row = append(row, number(v))
		}
		rows = append(rows, row)
	}
	return table([]string{"quantity", "unit", "items", "items without a number", "median", "25 %", "75 %", "mean", "sd", "minimum", "maximum"}, rows)
}

// number writes a number for a table, and a dash where there is none.
func number(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.5g", v)
}

// distributions draws the columns that are worth a picture: their densities, and their values against q
// where items have one.
func distributions(g *work.Merged, b *Album) {
	d := viz.Draws{Units: map[string]string{}}
	places := map[string]int{}
	at := 0
	for _, c := range g.Columns {
		if c.Kind != batch.Text {
			places[c.Name], at = at, at+1
			d.Units[c.Name] = c.Unit
		}
	}
	for _, name := range g.Values {
		var x []float64
		for _, r := range g.Sample {
			if v := r.Numbers[places[name]]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				x = append(x, v)
			}
		}
		if len(x) > 1 && slices.Min(x) < slices.Max(x) {
			d.Names, d.X = append(d.Names, name), append(d.X, [][]float64{x})
		}
	}
	if g.Ranks != nil || len(d.Names) == 0 {
		return
	}
	f, err := viz.Density(d)
	b.Add("distributions", f, err)
	place, ok := places["q"]
	if !ok {
		return
	}
	const most = 5000
	step := max(1, len(g.Sample)/most)
	against := viz.Against{Label: "q (1/Å)"}
	series := make([]viz.Series, len(d.Names))
	for i, name := range d.Names {
		series[i] = viz.Series{Name: name, Unit: d.Units[name]}
	}
	for i := 0; i < len(g.Sample); i += step {
		q := g.Sample[i].Numbers[place]
		if math.IsNaN(q) {
			continue
		}
		against.X = append(against.X, q)
		for k, name := range d.Names {
			series[k].Y = append(series[k].Y, g.Sample[i].Numbers[places[name]])
		}
	}
	if len(against.X) > 1 {
		f, err := viz.Parameters(against, series...)
		b.Add("against_q", f, err)
	}
}
