// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/models/twotime/motion"
	"github.com/euryale-dev/euryale/tensor/stat"
	"github.com/euryale-dev/euryale/viz"
)

// TwotimeMaps draws two-time correlations of several angles with a model.
type TwotimeMaps motion.Maps

// mostAngles is the number of angles that are drawn unless some are chosen.
const mostAngles = 6

// Angles returns the indices of up to six angles, evenly spread.
func (m *TwotimeMaps) Angles() (all []int) {
	n := min(len(m.Phi), mostAngles)
	for i := range n {
		all = append(all, i*(len(m.Phi)-1)/max(n-1, 1))
	}
	return all
}

// Images draws data, model and residuals of angles, given by index, and the residuals against lag and age.
func (m *TwotimeMaps) Images(angles []int) (*viz.Figure, error) {
	if len(angles) == 0 {
		return nil, errors.New("there are no angles to draw: choose at least one")
	}
	var rows [][]viz.Image
	for _, k := range angles {
		title := fmt.Sprintf("%.4g°: ", m.Phi[k])
		data, model := m.square(m.Data[k]), m.square(m.Model[k])
		data.Title, model.Title = title+"data", title+"model"
		limits := stat.Percentile(slices.DeleteFunc(offDiagonal(m.Data[k], len(m.Times)), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }), []float64{0.5, 99.5}, stat.LinearMethod)
		if limits[0] < limits[1] {
			data.Low, data.High, model.Low, model.High = limits[0], limits[1], limits[0], limits[1]
		}
		left := m.square(m.residuals(k))
		left.Title, left.ZLabel, left.Signed = title+"residual", "data - model", true
		rows = append(rows, []viz.Image{data, model, left, m.lagAge(k)})
	}
	f, err := viz.Images("Two-time correlations: data, model and residuals", rows)
	if err == nil {
		f.Note = "The diagonal, which contains the counting noise, and cells without pairs of frames are grey."
	}
	return f, err
}

// Lags draws c2 of angles against the lag, as means over young, middle and old ages, with the model.
func (m *TwotimeMaps) Lags(angles []int) (*viz.Figure, error) {
	if len(angles) == 0 {
		return nil, errors.New("there are no angles to draw: choose at least one")
	}
	n := len(m.Times)
	step := (m.Times[n-1] - m.Times[0]) / float64(n-1)
	var all []viz.Curve
	for _, k := range angles {
		for third := range 3 {
			c := viz.Curve{Title: fmt.Sprintf("%.4g°, %s", m.Phi[k], partName("age", third, 3, step*float64(n))), XLabel: "lag (s)", YLabel: "C2", LogX: true}
			for _, lags := range lagBins(n) {
				sum, of, count := 0.0, 0.0, 0.0
				for lag := lags[0]; lag < lags[1]; lag++ {
					for i := third * (n - lag) / 3; i < (third+1)*(n-lag)/3; i++ {
						if v := m.Data[k][i*n+i+lag]; !math.IsNaN(v) && !math.IsInf(v, 0) {
							sum, of, count = sum+v, of+m.Model[k][i*n+i+lag], count+1
						}
					}
				}
				if count > 0 {
					x := step * float64(lags[0]+lags[1]-1) / 2
					c.X, c.Y = append(c.X, x), append(c.Y, sum/count)
					c.LineX, c.Line = append(c.LineX, x), append(c.Line, of/count)
				}
			}
			if len(c.X) > 0 {
				all = append(all, c)
			}
		}
	}
	f, err := viz.Grid(all)
	if err == nil {
		f.Title, f.Note = "Two-time correlations against the lag", "Ages are those of short lags."
	}
	return f, err
}

// lagBins are ranges of lags, from 1 frame on, whose width grows with the lag.
func lagBins(n int) (bins [][2]int) {
	for lag := 1; lag < n; {
		next := max(lag+1, int(float64(lag)*1.25))
		bins = append(bins, [2]int{lag, min(next, n)})
		lag = next
	}
	return bins
}

func (m *TwotimeMaps) residuals(k int) []float64 {
	n := len(m.Times)
	out := make([]float64, n*n)
	for i := range out {
		if out[i] = m.Data[k][i] - m.Model[k][i]; i/n == i%n { // the diagonal has the noise of counts
			out[i] = math.NaN()
		}
	}
	return out
}

// offDiagonal returns the elements off the diagonal.
func offDiagonal(z []float64, n int) (out []float64) {
	for i, v := range z {
		if i/n != i%n {
			out = append(out, v)
		}
	}
	return out
}

// square is the image of a matrix, of which blocks are averaged if it is large.
func (m *TwotimeMaps) square(z []float64) viz.Image {
	n := len(m.Times)
	block := (n + mostTimes - 1) / mostTimes
	im := viz.Image{XLabel: "t1 (s)", YLabel: "t2 (s)", ZLabel: "C2", Equal: true}
	for from := 0; from < n; from += block {
		to := min(from+block, n)
		middle := (m.Times[from] + m.Times[to-1]) / 2
		im.X, im.Y = append(im.X, middle), append(im.Y, middle)
		var row []float64
		for left := 0; left < n; left += block {
			sum, count := 0.0, 0.0
			for i := from; i < to; i++ {
				for _, v := range z[i*n+left : i*n+min(left+block, n)] {
					if !math.IsNaN(v) && !math.IsInf(v, 0) {
						sum, count = sum+v, count+1
					}
				}
			}
			row = append(row, sum/count)
		}
		im.Z = append(im.Z, row)
	}
	return im
}

// mostAges is the number of bins of age in images.
const mostAges = 12

// lagAge is the image of mean residuals against lag and age, the time of the earlier frame.
func (m *TwotimeMaps) lagAge(k int) viz.Image {
	n := len(m.Times)
	step := (m.Times[n-1] - m.Times[0]) / float64(n-1)
	ages := min(mostAges, max(1, n/4))
	im := viz.Image{Title: fmt.Sprintf("%.4g°: mean residual", m.Phi[k]), XLabel: "lag (s)", YLabel: "age (s)", ZLabel: "data - model", LogX: true, Signed: true}
	bins := lagBins(n)
	for _, b := range bins {
		im.X = append(im.X, step*float64(b[0]+b[1]-1)/2)
	}
	r := m.residuals(k)
	for age := range ages {
		from, to := age*n/ages, (age+1)*n/ages
		im.Y = append(im.Y, (m.Times[from]+m.Times[to-1])/2)
		var row []float64
		for _, b := range bins {
			sum, count := 0.0, 0.0
			for lag := b[0]; lag < b[1]; lag++ {
				for i := from; i < to && i+lag < n; i++ {
					if v := r[i*n+i+lag]; !math.IsNaN(v) && !math.IsInf(v, 0) {
						sum, count = sum+v, count+1
					}
				}
			}
			row = append(row, sum/count)
		}
		im.Z = append(im.Z, row)
	}
	return im
}

// add draws the maps into an album.
func (m *TwotimeMaps) add(b *Album) {
	f, err := m.Images(m.Angles())
	b.Add("twotime", f, err)
	f, err = m.Lags(m.Angles())
	b.Add("lags", f, err)
}

// TwotimeFit returns the page of a least-squares fit of two-time correlations.
func TwotimeFit(file string, fit *motion.Fit, m *motion.Maps, s Settings) *Page {
	b := &Album{Note: s.Note, DPI: s.DPI}
	(*TwotimeMaps)(m).add(b)
	figures := b.Figures()
	facts := twotimeFacts(file, fit.Problem)
	if fit.Shared != nil {
		facts = append(facts, viz.Fact{Name: "effective entries", Value: fmt.Sprintf("%.4g", fit.Shared.Effective)})
	}
	text := "The errors account for entries that share a frame. Errors that assume independent entries are too small."
	for _, n := range slices.Concat(fit.Warned(), fit.Said()) {
		text += "\n- " + n
	}
	p := &Page{Report: viz.Report{Title: "Fit of two-time correlations", Facts: s.facts(facts, fitFact(fit.Verdict)),
		Sections: []viz.Section{{Title: "Parameters", Text: text, Tables: []string{TwotimeTable(fit)}}, {Title: "Data and model", Figures: figures}}}}
	p.Sections = append(p.Sections, modelSection(fit.Verdict, b))
	p.Album = *b
	return p
}

// twotimeFacts are the facts about a problem.
func twotimeFacts(file string, p *motion.Problem) []viz.Fact {
	return []viz.Fact{{Name: "file", Value: file}, {Name: "model", Value: string(p.Config.Model)}, {Name: "q", Value: fmt.Sprintf("%.5g 1/Å", p.C2.Q)}, {Name: "entries", Value: fmt.Sprint(p.Data.Points())}}
}

// TwotimeTable returns the table of a fit as HTML.
func TwotimeTable(fit *motion.Fit) string {
	var b strings.Builder
	b.WriteString("<table><thead><tr><th>parameter</th><th>value</th><th>error</th><th>error for independent entries</th><th>unit</th></tr></thead><tbody>")
	for _, r := range slices.Concat(fit.Rows(), fit.Scales()) {
		value, sd, other := TwotimeTexts(r)
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>", html.EscapeString(r.Name), value, sd, other, html.EscapeString(r.Unit))
	}
	b.WriteString("</tbody></table>")
	return b.String()
}

// TwotimeTexts returns a value, its error, and the error under the assumption of independent entries,
// with as many digits as the error has.
func TwotimeTexts(r motion.Row) (value, sd, independent string) {
	if r.Fixed {
		return fmt.Sprintf("%.6g", r.Value), "fixed", ""
	}
	value, sd, _ = strings.Cut(PlusMinus(r.Value, r.SD), " +- ")
	_, independent, _ = strings.Cut(PlusMinus(r.Value, r.Independent), " +- ")
	return value, cmp.Or(sd, "-"), cmp.Or(independent, "-")
}

// TwotimePosterior returns the page of sampled motion, with the data and the model at the posterior
// medians.
func TwotimePosterior(file string, l twotime.Likelihood, p *motion.Problem, m *motion.Maps, fit *infer.Fit, v check.Verdict, s Settings) *Page {
	b := &Album{Note: s.Note, DPI: s.DPI}
	(*TwotimeMaps)(m).add(b)
	figures := b.Figures()
	draws := viz.FromFit(fit)
	all := draws
	draws.Names, draws.X = nil, nil
	for i, name := range all.Names {
		if !p.IsAside(name) {
			draws.Names, draws.X = append(draws.Names, name), append(draws.X, all.X[i])
		}
	}
	album := posteriorAlbum(draws, s)
	sum, rep := fit.Summary(), fit.Diagnose()
	sum.Rows = slices.DeleteFunc(sum.Rows, func(r diag.Row) bool { return p.IsAside(r.Name) })
	facts := append(twotimeFacts(file, p), viz.Fact{Name: "likelihood", Value: string(l)}, viz.Fact{Name: "seed", Value: fmt.Sprint(s.Seed)})
	page := &Page{Report: viz.Report{Title: "Posterior of two-time correlations", Facts: s.facts(facts, verdictFact(rep, v)),
		Sections: []viz.Section{{Title: "Summary", Tables: []string{sum.HTML(), rep.HTML()}}, modelSection(v, b),
			{Title: "Data and model", Text: "The model is computed at the medians of the posterior.", Figures: figures}, {Title: "Posterior", Figures: album.Figures()}}}}
	b.Append(album)
	page.Album = *b
	return page
}
