// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html"
	"strings"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/viz"
)

// Inversion is a solved task together with its results.
type Inversion struct {
	File       string // problem file
	Task       *morph.Task
	Table      string              // HTML table of the parameters
	Verdict    check.Verdict       // verdict about the model
	Morphology *cyrsoxs.Morphology // morphology at the parameters found
	Pattern    *rsoxs.Pattern      // simulated pattern of the morphology
	Fit        *infer.Fit          // posterior of the parameters; nil for point fits
}

// Morphology returns the page of an inversion: patterns and curves of data and model, and
// a slice of the morphology.
func Morphology(v Inversion, s Settings) *Page {
	b := dataAlbum(v, s)
	problem := v.Task.Problem
	method := v.Task.Method
	if v.Fit != nil {
		method = fmt.Sprintf("NUTS, seed %d", s.Seed)
	}
	r := viz.Report{Title: "Morphology: " + problem.Model, Facts: s.facts([]viz.Fact{{Name: "problem", Value: v.File}, {Name: "method", Value: method},
		{Name: "data", Value: problem.Data.String()}, {Name: "energies (eV)", Value: strings.Trim(fmt.Sprint(v.Pattern.Energies), "[]")}}),
		Sections: []viz.Section{{Title: "Parameters", Tables: []string{v.Table}}, {Title: "Model against data", Tables: []string{v.Verdict.HTML()}}, {Title: "Data and model", Figures: b.Figures()}}}
	withPosterior(&r, b, v.Fit, v.Verdict, s)
	return &Page{Report: r, Album: *b}
}

// withPosterior adds the diagnosis and the pictures of a posterior to a page whose first section has the parameters; nil is a point fit.
func withPosterior(r *viz.Report, b *Album, fit *infer.Fit, v check.Verdict, s Settings) {
	if fit == nil {
		r.Facts = append(r.Facts, fitFact(v))
		return
	}
	rep := fit.Diagnose()
	post := posteriorAlbum(viz.FromFit(fit), s)
	r.Facts = append(r.Facts, verdictFact(rep, v))
	r.Sections[0].Tables = append(r.Sections[0].Tables, rep.HTML())
	r.Sections = append(r.Sections, viz.Section{Title: "Posterior", Figures: post.Figures()})
	b.Append(post)
}

// dataAlbum draws the data, the model and a slice of the morphology.
func dataAlbum(v Inversion, s Settings) *Album {
	data := *v.Pattern
	data.Intensity = v.Task.Measurement.Masked()
	b := &Album{Note: s.Note, DPI: s.DPI}
	f, err := Patterns(&data, v.Pattern)
	b.Add("patterns", f, err)
	for _, kind := range []string{"I", "A"} {
		f, err := Curves(kind, &data, v.Pattern)
		b.Add(map[string]string{"I": "iq", "A": "aq"}[kind], f, err)
	}
	cut := Slice(v.Morphology, SliceSettings{At: -1, Least: 0.05})
	cut.Title = "Recovered" + cut.Title
	f, err = viz.Morphology(cut)
	b.Add("morphology", f, err)
	return b
}

// mostLines is the largest number of parameters in a table.
const mostLines = 40

// Parameters returns the table of a fit as HTML.
func Parameters(names []string, f *morph.Solution) string {
	var b strings.Builder
	b.WriteString("<table><thead><tr><th>parameter</th><th>value</th></tr></thead><tbody>")
	for i, n := range names[:min(len(names), mostLines)] {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td></tr>", html.EscapeString(n), strings.Replace(PlusMinus(f.X[i], f.SD[i]), "+-", "±", 1))
	}
	b.WriteString("</tbody></table>")
	return b.String()
}
