// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
	"github.com/euryale-dev/euryale/viz"
)

// SpectraFits are the fits of stars, for a page or a terminal.
type SpectraFits struct {
	Files    []string
	Library  string
	Stars    []spectra.Star
	Outcomes []fitfile.Outcome
	Seen     int // number of stars passed to Keep
}

// Star draws the spectra of a star with the model that was fitted, and the residuals.
func Star(star *spectra.Star, fit *spectra.Fit) (*viz.Figure, error) {
	if fit.Err != nil {
		return nil, fit.Err
	}
	var plots []viz.Lines
	for i, s := range star.Spectra {
		var x, y, model, res []float64
		for k := range s.Lam {
			if s.Bad != nil && s.Bad[k] {
				continue
			}
			x, y, model = append(x, s.Lam[k]), append(y, s.Flux[k]), append(model, fit.Spectra[i].Model[k])
			res = append(res, (s.Flux[k]-fit.Spectra[i].Model[k])/s.Err[k])
		}
		if len(x) == 0 {
			continue
		}
		title := fmt.Sprintf("%s: chi² %.5g of %d pixels", s.Arm, fit.Spectra[i].ChiSquare, fit.Spectra[i].Pixels)
		plots = append(plots, viz.Lines{Title: title, YLabel: "flux", Curves: []viz.Line{{Name: "data", X: x, Y: y, Thin: true}, {Name: "model", X: x, Y: model}}},
			viz.Lines{XLabel: "wavelength (Å)", YLabel: "residual (sd)", Height: 0.5, Curves: []viz.Line{{Name: "residual", X: x, Y: res, Thin: true}}})
	}
	f, err := viz.Plots(fit.Star, plots...)
	if err == nil {
		f.Note = "Spectra with the fitted model, and residuals in standard deviations. Verdict on the model: " + judged(fit) + "."
	}
	return f, err
}

// judged says in one word whether the model agrees with the data.
func judged(f *spectra.Fit) string {
	switch {
	case f.Err != nil:
		return "failed"
	case !f.Converged:
		return "not converged"
	case f.Verdict == nil:
		return "not judged"
	case f.Verdict.OK:
		return "agrees"
	case f.Verdict.Word() == "undetermined":
		return "undetermined"
	}
	return "disagrees"
}

// cells are the columns of a fit: the verdict, its parameters and chi-square.
func (s *SpectraFits) cells(f *spectra.Fit) []string {
	if f.Err != nil {
		return append([]string{judged(f)}, slices.Repeat([]string{"-"}, len(f.Names)+2)...)
	}
	row := []string{judged(f)}
	for k := range f.Names {
		x, sd := f.X[k], f.SD[k]
		if k == 0 && f.Exposures == nil && f.Velocity.SD > 0 && !math.IsNaN(sd) {
			x, sd = f.Velocity.Vel, max(sd, f.Velocity.SD) // that of a lopsided or wide posterior, or with the other parameters
		}
		text := PlusMinus(x, sd)
		if p := f.Profile; k == 0 && p != nil && p.Lopsided(f.X[0]) {
			text = fmt.Sprintf("%.4g +%.2g -%.2g", f.X[0], p.Upper-f.X[0], f.X[0]-p.Lower)
		}
		if r := f.Rotation; r != nil && f.Names[k] == spectra.Vsini {
			text = fmt.Sprintf("%.3g +%.2g -%.2g", x, r.Upper-x, x-r.Lower)
			if r.Lower == 0 {
				text = fmt.Sprintf("< %.3g (95 %%)", r.Below95)
			}
		}
		for _, l := range f.Limits {
			if l.Name == f.Names[k] {
				text = fmt.Sprintf("%.4g (at bound)", x)
				if l.Limit95 > l.Bound {
					text = fmt.Sprintf("< %.3g (95 %%)", l.Limit95)
				} else if l.Limit95 < l.Bound {
					text = fmt.Sprintf("> %.3g (95 %%)", l.Limit95)
				}
			}
		}
		row = append(row, text)
	}
	chi, n := 0.0, 0
	for _, p := range f.Spectra {
		chi, n = chi+p.ChiSquare, n+p.Pixels
	}
	return append(row, fmt.Sprintf("%.5g", chi), fmt.Sprint(n))
}

func (s *SpectraFits) head() []string {
	row := []string{"model"}
	if len(s.Outcomes) > 0 {
		for _, n := range s.Outcomes[0].Fit.Names {
			if u := spectra.Unit(n); u != "" {
				n += " (" + u + ")"
			}
			row = append(row, n)
		}
	}
	return append(row, "chi2", "pixels")
}

// Write writes a table of the fits, followed by the verdict in a few lines, and by all findings and notes if asked.
func (s *SpectraFits) Write(w io.Writer, all bool) error {
	t := foreign.Table(w, 0)
	fmt.Fprintln(t, "star\t"+strings.Join(s.head(), "\t"))
	for i := range s.Outcomes {
		f := &s.Outcomes[i].Fit
		fmt.Fprintln(t, foreign.Line(f.Star)+"\t"+strings.Join(s.cells(f), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, s.verdictLines(all))
	return err
}

// verdictLines are the lines below the table.
func (s *SpectraFits) verdictLines(all bool) string {
	var b strings.Builder
	var stars []string
	var verdicts []check.Verdict
	more := false
	for i := range s.Outcomes {
		f := &s.Outcomes[i].Fit
		if f.Err != nil {
			fmt.Fprintf(&b, "%s: failed: %s\n", foreign.Line(f.Star), foreign.Line(f.Err.Error()))
		}
		if f.Err != nil || f.Verdict == nil {
			continue
		}
		stars, verdicts = append(stars, foreign.Line(f.Star)), append(verdicts, *f.Verdict)
		more = more || len(f.Verdict.Flags)+len(altered(f)) > 0 || f.Common != nil
	}
	switch len(verdicts) {
	case 0:
	case 1:
		b.WriteString(verdicts[0].Line())
	default:
		b.WriteString(strings.Join(check.Digest("stars", verdicts, func(which []int) string { return starsText(stars, which) }), "\n"))
	}
	if more && !all {
		b.WriteString(" Details: --verbose.")
	}
	if len(verdicts) > 0 {
		b.WriteString("\n")
	}
	if all {
		s.details(&b)
		return b.String()
	}
	var notes errtext.Alike
	for i := range s.Outcomes {
		f := &s.Outcomes[i].Fit
		if f.Err != nil || f.Verdict == nil {
			continue
		}
		for _, n := range f.Verdict.Notes {
			if n.Kind == spectra.KindCoarse { // without it, the errors would be taken for all there are
				notes.Add(f.Star, n.Text+": "+n.Remedy)
			}
		}
	}
	writeNotes(&b, &notes)
	return b.String()
}

// starsText names stars, at most eight of them.
func starsText(stars []string, which []int) string {
	const most = 8
	var named []string
	for _, i := range which[:min(most, len(which))] {
		named = append(named, stars[i])
	}
	text := strings.Join(named, ", ")
	if n := len(which) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// details writes all findings and what the fits changed by themselves. Of many stars, what differs only in its numbers is written once.
func (s *SpectraFits) details(w io.Writer) {
	var notes errtext.Alike
	for i := range s.Outcomes {
		f := &s.Outcomes[i].Fit
		if f.Common != nil {
			fmt.Fprintf(w, "%s: %s\n", f.Star, f.Common)
		}
		if f.Err == nil && f.Verdict != nil {
			for _, flag := range f.Verdict.Flags {
				fmt.Fprintf(w, "%s: %s\n", f.Star, flag)
			}
		}
		for _, text := range altered(f) {
			notes.Add(f.Star, text)
		}
	}
	writeNotes(w, &notes)
}

// writeNotes writes notes on stars, each kind of them once.
func writeNotes(w io.Writer, notes *errtext.Alike) {
	notes.Each(func(text string, stars []string) {
		if len(stars) == 1 {
			fmt.Fprintf(w, "%s: note: %s\n", stars[0], text)
			return
		}
		fmt.Fprintf(w, "%s (%s): note: %s\n", errtext.Count(len(stars), "star"), errtext.Named(stars), text)
	})
}

// altered says what a fit changed by itself: pixels that it left out, and functions that it added to the continuum.
func altered(f *spectra.Fit) (list []string) {
	if f.Err == nil && f.Verdict != nil {
		for _, n := range f.Verdict.Notes {
			if n.Kind == spectra.KindSpikes || n.Kind == spectra.KindContinuum || n.Kind == spectra.KindCoarse {
				list = append(list, n.Text)
			}
		}
	}
	return list
}

// Keep adds a star. If there would then be more stars than a page draws, it drops the one with the best
// verdict.
func (s *SpectraFits) Keep(star *spectra.Star, o *fitfile.Outcome) {
	s.Stars, s.Outcomes = append(s.Stars, *star), append(s.Outcomes, *o)
	s.Seen++
	if len(s.Outcomes) <= mostDrawn {
		return
	}
	best := 0
	for i := range s.Outcomes {
		if pOf(&s.Outcomes[i].Fit) > pOf(&s.Outcomes[best].Fit) {
			best = i
		}
	}
	s.Stars, s.Outcomes = slices.Delete(s.Stars, best, best+1), slices.Delete(s.Outcomes, best, best+1)
}

// pOf is the p-value of the verdict about a fit; 1 if there is none.
func pOf(f *spectra.Fit) float64 {
	if f.Verdict != nil && !math.IsNaN(f.Verdict.P) {
		return f.Verdict.P
	}
	return 1
}

// mostDrawn is the number of stars that a page draws: those with the largest disagreement.
const mostDrawn = 12

// Page returns the page of the fits: a table, and pictures of the stars or, if there are many, of the
// worst ones.
func (s *SpectraFits) Page(set Settings) *Page {
	b := &Album{Note: set.Note, DPI: set.DPI}
	order := make([]int, 0, len(s.Outcomes))
	for i := range s.Outcomes {
		if s.Outcomes[i].Fit.Err == nil {
			order = append(order, i)
		}
	}
	title, text := "Spectra", "The figures show the data and the model of each star, and the residuals in standard deviations."
	if len(order) > mostDrawn {
		text = fmt.Sprintf("The figures show the data and the model of the %d stars with the worst verdicts, out of %d, and the residuals in standard deviations.", mostDrawn, len(order))
		slices.SortStableFunc(order, func(i, j int) int {
			return cmp.Compare(pOf(&s.Outcomes[i].Fit), pOf(&s.Outcomes[j].Fit))
		})
		order = order[:mostDrawn]
	}
	for k, i := range order {
		f, err := Star(&s.Stars[i], &s.Outcomes[i].Fit)
		b.Add(fmt.Sprintf("star%d", k+1), f, err)
	}
	if s.Seen > len(s.Outcomes) {
		text = fmt.Sprintf("The figures show the data and the model of the %d stars with the worst verdicts, out of %d, and the residuals in standard deviations.", len(s.Outcomes), s.Seen)
	}
	good, bad, failed := 0, 0, 0
	for i := range s.Outcomes {
		switch f := &s.Outcomes[i].Fit; {
		case f.Err != nil:
			failed++
		case judged(f) != "agrees" && judged(f) != "not judged":
			bad++
		case judged(f) == "agrees" && f.Converged:
			good++
		}
	}
	p := &Page{Album: *b}
	p.Report = viz.Report{Title: "Stellar spectra", Facts: set.facts([]viz.Fact{{Name: "files", Value: strings.Join(s.Files, ", ")}, {Name: "library", Value: s.Library}, {Name: "stars", Value: fmt.Sprint(max(s.Seen, len(s.Outcomes)))}},
		viz.Fact{Name: "model", Value: fmt.Sprintf("of the stars shown, the model agrees with the data of %d and disagrees with those of %d; %d have no fit", len(s.Outcomes)-bad-failed, bad, failed)}, countFact("stars that are shown", good, len(s.Outcomes))),
		Sections: []viz.Section{{Title: "Fits", Tables: []string{s.table()}}, s.verdicts(), {Title: title, Text: text, Figures: b.Figures()}}}
	return p
}

func (s *SpectraFits) table() string {
	var b strings.Builder
	b.WriteString("<table><thead><tr><th>star</th>")
	for _, h := range s.head() {
		fmt.Fprintf(&b, "<th>%s</th>", html.EscapeString(h))
	}
	b.WriteString("</tr></thead><tbody>")
	for i := range s.Outcomes {
		f := &s.Outcomes[i].Fit
		fmt.Fprintf(&b, "<tr><td>%s</td>", html.EscapeString(f.Star))
		for _, c := range s.cells(f) {
			fmt.Fprintf(&b, "<td>%s</td>", html.EscapeString(strings.Replace(c, "+-", "±", 1)))
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	return b.String()
}

// verdicts says where the model disagrees with the data.
func (s *SpectraFits) verdicts() viz.Section {
	v := viz.Section{Title: "Model against data"}
	for i := range s.Outcomes {
		f := &s.Outcomes[i].Fit
		if f.Err != nil {
			v.Text += fmt.Sprintf("- %s: failed: %s\n", f.Star, f.Err)
		}
		if f.Common != nil {
			v.Text += fmt.Sprintf("- %s: %s\n", f.Star, f.Common)
		}
		for _, text := range altered(f) {
			v.Text += fmt.Sprintf("- %s: %s\n", f.Star, text)
		}
		if f.Err != nil || f.Verdict == nil || f.Verdict.OK {
			continue
		}
		v.Text += fmt.Sprintf("- %s: %s\n", f.Star, f.Verdict.Summary())
		for _, flag := range f.Verdict.Flags {
			v.Text += fmt.Sprintf("- %s: %s\n", f.Star, flag)
		}
	}
	if v.Text == "" {
		v.Text = "No verdict is bad."
	}
	return v
}

// StarPosterior returns the page of a sampled star. o is the fit from which the chains started, and
// models holds the models of some draws, as [StarDraws] takes them.
func StarPosterior(file, library string, star *spectra.Star, o *fitfile.Outcome, fit *infer.Fit, models [][][]float64, v check.Verdict, set Settings) *Page {
	data := &Album{Note: set.Note, DPI: set.DPI}
	f, err := Star(star, &o.Fit)
	data.Add("spectrum", f, err)
	figures := data.Figures()
	within := &Album{Note: set.Note, DPI: set.DPI}
	f, err = StarDraws(star, models)
	within.Add("posterior", f, err)
	draws := viz.FromFit(fit)
	draws.Units = map[string]string{}
	for _, name := range o.Fit.Names {
		draws.Units[name] = spectra.Unit(name)
	}
	album := posteriorAlbum(draws, set)
	sum, rep := fit.Summary(), fit.Diagnose()
	one := &SpectraFits{Stars: []spectra.Star{*star}, Outcomes: []fitfile.Outcome{*o}}
	p := &Page{}
	p.Report = viz.Report{Title: "Star " + star.Name, Facts: set.facts([]viz.Fact{{Name: "file", Value: file}, {Name: "library", Value: library}, {Name: "seed", Value: fmt.Sprint(set.Seed)}}, verdictFact(rep, v)),
		Sections: []viz.Section{
			{Title: "Summary", Tables: []string{sum.HTML(), rep.HTML()}},
			modelSection(v, data),
			{Title: "Data and fit", Text: "The figure shows the fit from which the chains start, and its residuals in standard deviations.", Tables: []string{one.table()}, Figures: figures},
			{Title: "Posterior", Text: "The figures show the data with the models of posterior draws, and the posterior of the parameters.", Figures: append(within.Figures(), album.Figures()...)},
		}}
	data.Append(within)
	data.Append(album)
	p.Album = *data
	return p
}
