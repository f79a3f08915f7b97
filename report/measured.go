// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/viz"
)

// MeasuredFit is what a page shows of a fit to measured patterns.
type MeasuredFit struct {
	File   string   // problem file
	Model  string   // name of the model
	Data   []string // lines that say what was understood of the files
	Images []measured.Image
	// Profiles are those of the images along q.
	Profiles []measured.Profile
	// Names are all parameters, Morphology those of the sample, SD their standard deviations; Energies say what each photon energy is worth to
	// them, and Correlations which belong together. Without Energies there is no picture of them.
	Names, Morphology []string
	SD                map[string]float64
	Units             map[string]string // units of the parameters that have one
	Energies          []measured.EnergyInformation
	Correlations      []measured.Correlation
	Table             string // HTML table of the parameters
	Verdict           check.Verdict
	Fit               *infer.Fit // posterior of the parameters; nil for point fits
}

// Measured returns the page of a fit to measured patterns: counts, expected counts and residuals of every frame, A(q, E), residuals along q,
// what each energy is worth, and for posteriors a corner plot of the parameters of the sample with the nuisances that belong to them.
func Measured(m MeasuredFit, s Settings) *Page {
	b := &Album{Note: s.Note, DPI: s.DPI}
	if lines(m.Images) {
		f, err := curvesOf(m.Images)
		b.Add("curves", f, err)
		m.Images = nil
	}
	for from := 0; from < len(m.Images); from += mostFrames {
		f, err := frames(m.Images[from:min(len(m.Images), from+mostFrames)])
		name := "patterns"
		if len(m.Images) > mostFrames {
			name = fmt.Sprintf("patterns_%d", from/mostFrames+1)
		}
		b.Add(name, f, err)
	}
	f, err := anisotropyMaps(m.Profiles)
	if f != nil || err != nil {
		b.Add("anisotropy", f, err)
	}
	f, err = residualProfiles(m.Profiles)
	b.Add("residuals", f, err)
	if len(m.Energies) > 1 && len(m.Morphology) > 0 {
		f, err := energyWorth(m.Energies, m.Morphology, m.SD)
		b.Add("energies", f, err)
	}
	if m.Fit != nil && len(m.Names) > 1 {
		d := viz.FromFit(m.Fit)
		d.Units = m.Units
		names := cornerNames(m.Morphology, m.Correlations, m.Names)
		f, err := viz.Pair(d, names...)
		if f != nil && len(names) < len(m.Names) {
			f.Note += fmt.Sprintf(" These are %d of %d parameters, those of the morphology first; plot pair draws others.", len(names), len(m.Names))
		}
		b.Add("corner", f, err)
	}
	method := "maximum of the likelihood times the priors"
	if m.Fit != nil {
		method = fmt.Sprintf("NUTS, seed %d", s.Seed)
	}
	r := viz.Report{Title: "Measured patterns: " + m.Model, Facts: s.facts([]viz.Fact{{Name: "problem", Value: m.File}, {Name: "method", Value: method}, {Name: "data", Value: strings.Join(m.Data, "; ")}}),
		Sections: []viz.Section{{Title: "Parameters", Tables: []string{m.Table}}, {Title: "Model against data", Tables: []string{m.Verdict.HTML()}}, {Title: "Data and model", Figures: b.Figures()}}}
	withPosterior(&r, b, m.Fit, m.Verdict, s)
	return &Page{Report: r, Album: *b}
}

// lines reports whether frames are numbers along q, and no images.
func lines(list []measured.Image) bool {
	return len(list) > 0 && list[0].Rows == 1 && list[0].Frame.Bins != nil
}

// curvesOf draws I(q) or A(q) of frames beside the model, with the errors that the likelihood has.
func curvesOf(list []measured.Image) (*viz.Figure, error) {
	var curves []viz.Curve
	for _, im := range list {
		c := viz.Curve{Title: fmt.Sprintf("%g eV, %g degrees", im.Frame.Energy, im.Frame.Angle), XLabel: "q (1/nm)", YLabel: "data and model", LogY: im.Frame.Bins.Less == nil}
		for k, y := range im.Counts[0] {
			if math.IsNaN(y) {
				continue
			}
			gain := im.Frame.Exposure
			if im.Frame.Gains != nil {
				gain = im.Frame.Gains[k]
			}
			sd := math.Abs((y - im.Mean[0][k]) / im.Residual[0][k])
			if math.IsNaN(sd) || math.IsInf(sd, 0) { // data and model agree in all digits
				sd = 0
			}
			c.X, c.Y, c.Err = append(c.X, im.Frame.Bins.Q[k]), append(c.Y, y/gain), append(c.Err, sd/gain)
			c.Line = append(c.Line, im.Mean[0][k]/gain)
		}
		c.LineX = c.X
		curves = append(curves, c)
	}
	return viz.Grid(curves)
}

// mostFrames is the largest number of frames in one picture.
const mostFrames = 4

// frames draws counts, expected counts and residuals of some frames, a row for each. The first two share their colours.
func frames(list []measured.Image) (*viz.Figure, error) {
	var rows [][]viz.Image
	for _, im := range list {
		low, high := math.Inf(1), 0.0
		for _, row := range im.Counts {
			for _, v := range row {
				if v > 0 {
					low, high = min(low, v), max(high, v)
				}
			}
		}
		title := fmt.Sprintf("%g eV, %g degrees, %g s", im.Frame.Energy, im.Frame.Angle, im.Frame.Exposure)
		image := func(what string, z [][]float64) viz.Image {
			return viz.Image{Title: title + ": " + what, XLabel: "column", YLabel: "row", ZLabel: "counts (grey: left out)", Z: z, Log: true, Equal: true, Low: low, High: high}
		}
		residual := viz.Image{Title: fmt.Sprintf("residuals (mean square %.3g)", im.Pearson/max(1, im.Pixels)), XLabel: "column", YLabel: "row", ZLabel: "standard deviations", Z: im.Residual, Signed: true, Equal: true, Low: -4, High: 4}
		rows = append(rows, []viz.Image{image("counts", seen(im.Counts, low)), image("expected", im.Mean), residual})
	}
	return viz.Images("Counts and expected counts", rows)
}

// seen gives pixels without a count the lowest colour of a logarithmic scale, so that only those that are left out are grey.
func seen(counts [][]float64, lowest float64) [][]float64 {
	out := make([][]float64, len(counts))
	for y, row := range counts {
		out[y] = make([]float64, len(row))
		for x, v := range row {
			if out[y][x] = v; v <= 0 && !math.IsInf(lowest, 0) {
				out[y][x] = lowest
			}
		}
	}
	return out
}

// ParameterRows returns rows of names and values as an HTML table.
func ParameterRows(rows [][2]string) string {
	var b strings.Builder
	b.WriteString("<table><thead><tr><th>parameter</th><th>value</th></tr></thead><tbody>")
	for _, r := range rows {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td></tr>", html.EscapeString(r[0]), strings.Replace(html.EscapeString(r[1]), "+-", "±", 1))
	}
	b.WriteString("</tbody></table>")
	return b.String()
}
