package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
	"github.com/euryale-dev/euryale/viz"
)

// undated stands for the date of a morphology that belongs to a run, so that the same run
// gives the same bytes.
const undated = "that of the run"

// mostEnergies bounds the rows of pictures.
const mostEnergies = 6

// saveInversion writes pictures and the report of parameters x. Of a posterior, fit
// is drawn too.
func (a *app) saveInversion(ctx context.Context, v *inversion, x []float64, table string, fit *infer.Fit, verdict check.Verdict) error {
	m, model, err := v.Predict(context.WithoutCancel(ctx), x)
	if err != nil {
		return as(exitFailed, err)
	}
	b, err := a.dataAlbum(v, m, model)
	if err != nil {
		return err
	}
	r := viz.Report{Title: "Morphology: " + v.Problem.Model, Facts: []viz.Fact{{Name: "problem", Value: v.cfg.File}, {Name: "method", Value: v.Method},
		{Name: "data", Value: v.Problem.Data}, {Name: "energies (eV)", Value: strings.Trim(fmt.Sprint(model.Energies), "[]")}, {Name: "version", Value: v.cfg.Version}},
		Sections: []viz.Section{{Title: "Parameters", Tables: []string{table}}, {Title: "Model against data", Tables: []string{verdict.HTML()}}, {Title: "Data and model", Figures: b.figures()}}}
	if fit != nil {
		rep := fit.Diagnose()
		post := a.posteriorAlbum(viz.FromFit(fit))
		r.Facts = append(r.Facts, verdictFact(rep, verdict))
		r.Sections[0].Tables = append(r.Sections[0].Tables, rep.HTML())
		r.Sections = append(r.Sections, viz.Section{Title: "Posterior", Figures: post.figures()})
		b.pictures = append(b.pictures, post.pictures...)
	}
	if err := b.save(v.dir); err != nil {
		return err
	}
	return writeFile(v.dir.Path("report.html"), []byte(r.HTML()))
}

// dataAlbum draws data and model, and the slice of the morphology that it writes.
func (a *app) dataAlbum(v *inversion, m *rsoxs.Morphology, model *rsoxs.Pattern) (*album, error) {
	data := *model
	data.Intensity = v.Measurement.Masked()
	b := &album{a: a}
	f, err := patternTable(&data, model)
	b.add("patterns", f, err)
	for _, kind := range []string{"I", "A"} {
		f, err := curveGrid(kind, &data, model)
		b.add(map[string]string{"I": "iq", "A": "aq"}[kind], f, err)
	}
	volume, err := morph.VolumeOf(m)
	if err != nil {
		return nil, as(exitBug, err)
	}
	var bad *cyrsoxs.FormatError
	volume.Creator, volume.Created = "euryale "+version(), undated
	if err := cyrsoxs.WriteMorphology(v.dir.Path("morphology.h5"), volume, cyrsoxs.WriteOptions{}); errors.As(err, &bad) {
		a.note("no morphology.h5: %v", err) // such as an order parameter above 1
	} else if err != nil {
		return nil, as(exitCannotWrite, err)
	}
	s, err := (&morphologyFlags{Slice: "z", Subsample: 1, Least: 0.05}).slice(volume)
	if err == nil {
		s.Title = "Recovered" + s.Title
		f, err = viz.Morphology(s)
	}
	b.add("morphology", f, err)
	return b, nil
}

// rows are the energies of pictures: all, or some spread evenly.
func rows(p *rsoxs.Pattern) (list []int) {
	n := min(len(p.Energies), mostEnergies)
	for i := range n {
		list = append(list, i*(len(p.Energies)-1)/max(1, n-1))
	}
	return list
}

// patternTable draws data, fit and the difference of their logarithms, a row for each
// energy, of the first beam.
func patternTable(data, model *rsoxs.Pattern) (*viz.Figure, error) {
	var table [][]viz.Image
	for _, e := range rows(model) {
		d, m := data.Image(e, 0), model.Image(e, 0)
		r := make([]float64, len(d))
		most := 0.0
		for i := range r {
			r[i] = math.Log(d[i] / m[i])
			if x := math.Abs(r[i]); x > most && !math.IsInf(x, 0) {
				most = x
			}
		}
		residual := viz.Pattern("ln data/fit", model.QY, model.QX, r)
		residual.Log, residual.Signed, residual.ZLabel = false, true, ""
		residual.Low, residual.High = -min(most, 1), min(most, 1)
		first := viz.Pattern(fmt.Sprintf("%g eV, data", model.Energies[e]), model.QY, model.QX, d)
		second := viz.Pattern("fit", model.QY, model.QX, m)
		second.Low, second.High = first.Low, first.High
		table = append(table, []viz.Image{first, second, residual})
	}
	return viz.Images("Patterns", table)
}

// curveGrid draws I(q) or A(q) of data and model for each energy.
func curveGrid(kind string, data, model *rsoxs.Pattern) (*viz.Figure, error) {
	r, err := rsoxs.Reduction{Radii: rsoxs.TrueRadii}.NewReducer(model)
	if err != nil {
		return nil, err
	}
	d, err := r.Reduce(data)
	if err != nil {
		return nil, err
	}
	seen := *model
	seen.Intensity = model.Intensity.Copy() // where there are data
	for i, x := range data.Intensity.Data().([]float64) {
		if math.IsNaN(x) {
			seen.Intensity.Data().([]float64)[i] = x
		}
	}
	m, err := r.Reduce(&seen)
	if err != nil {
		return nil, err
	}
	pick := func(c *rsoxs.Curves, e int) []float64 {
		t := map[string]*tensor.Tensor{"I": c.I, "A": c.A}[kind]
		n := len(c.Q[e])
		at := e * t.Shape()[1] * n
		return t.Data().([]float64)[at : at+n]
	}
	var all []viz.Curve
	for _, e := range rows(model) {
		q := m.Q[e][1:] // the beam itself tells nothing
		all = append(all, viz.Curve{Title: fmt.Sprintf("%g eV", model.Energies[e]), XLabel: "q (1/nm)", YLabel: kind, LogY: kind == "I",
			X: q, Y: pick(d, e)[1:], LineX: q, Line: pick(m, e)[1:]})
	}
	if len(all) == 1 {
		return viz.Fit(all[0])
	}
	f, err := viz.Grid(all)
	if err == nil {
		f.Title = map[string]string{"I": "Intensity, mean over all directions", "A": "Anisotropy"}[kind]
	}
	return f, err
}

// table is a fit for the report.
func (v *inversion) table(f *morph.Solution) string {
	var b strings.Builder
	b.WriteString("<table><thead><tr><th>parameter</th><th>value</th></tr></thead><tbody>")
	for i, n := range v.Names() {
		if i == mostLines {
			break
		}
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td></tr>", html.EscapeString(n), strings.Replace(plusMinus(f.X[i], f.SD[i]), "+-", "±", 1))
	}
	b.WriteString("</tbody></table>")
	return b.String()
}
