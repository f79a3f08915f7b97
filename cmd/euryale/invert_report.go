package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"math"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
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
	scene, err := v.cfg.Problem.Scene(x)
	if err != nil {
		return as(exitBug, err)
	}
	m, err := scene.Morphology(v.cfg.Problem.Grid.Voxel)
	if err != nil {
		return as(exitFailed, err)
	}
	model, err := v.predict(context.WithoutCancel(ctx), m, scene)
	if err != nil {
		return as(exitFailed, err)
	}
	b, err := a.dataAlbum(v, m, model)
	if err != nil {
		return err
	}
	r := viz.Report{Title: "Morphology: " + v.cfg.Problem.Model, Facts: []viz.Fact{{Name: "problem", Value: v.cfg.File}, {Name: "method", Value: v.method},
		{Name: "data", Value: v.cfg.Problem.Data}, {Name: "energies (eV)", Value: strings.Trim(fmt.Sprint(model.Energies), "[]")}, {Name: "version", Value: v.cfg.Version}},
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
	return writeFile(v.dir.path("report.html"), []byte(r.HTML()))
}

// dataAlbum draws data and model, and the slice of the morphology that it writes.
func (a *app) dataAlbum(v *inversion, m *rsoxs.Morphology, model *rsoxs.Pattern) (*album, error) {
	data := *model
	data.Intensity = masked(v.measurement.Data, v.measurement.Mask)
	b := &album{a: a}
	f, err := patternTable(&data, model)
	b.add("patterns", f, err)
	for _, kind := range []string{"I", "A"} {
		f, err := curveGrid(kind, &data, model)
		b.add(map[string]string{"I": "iq", "A": "aq"}[kind], f, err)
	}
	volume, err := volumeOf(m)
	if err != nil {
		return nil, as(exitBug, err)
	}
	var bad *cyrsoxs.FormatError
	volume.Created = undated
	if err := cyrsoxs.WriteMorphology(v.dir.path("morphology.h5"), volume, cyrsoxs.WriteOptions{}); errors.As(err, &bad) {
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

// masked is NaN where the mask leaves out.
func masked(data, mask *tensor.Tensor) *tensor.Tensor {
	out := data.Copy()
	v, m := out.Data().([]float64), mask.Data().([]float64)
	for i := range v {
		if m[i] == 0 {
			v[i] = math.NaN()
		}
	}
	return out
}

// predict returns what a detector sees of the fields m of a scene, with its scale and
// background.
func (v *inversion) predict(ctx context.Context, m *rsoxs.Morphology, s morph.Scene) (*rsoxs.Pattern, error) {
	sim := v.inv.Sim.Clone()
	if err := sim.Transform(ctx, m); err != nil {
		return nil, err
	}
	p, err := sim.Pattern(ctx, v.inv.Optics)
	if err != nil {
		return nil, err
	}
	numbers := [2]float64{1, 0}
	for i, n := range []*ad.Node{s.Scale, s.Background} {
		if n != nil {
			t, err := ad.Eval(n)
			if err != nil {
				return nil, err
			}
			numbers[i] = t[0].Float64s()[0]
		}
	}
	for i, x := range p.Intensity.Data().([]float64) {
		p.Intensity.Data().([]float64)[i] = numbers[0]*x + numbers[1]
	}
	return p, nil
}

// volumeOf returns a morphology as its files have it, on the same memory, with vacuum
// as the last material where the others leave room.
func volumeOf(m *rsoxs.Morphology) (*cyrsoxs.Morphology, error) {
	v := &cyrsoxs.Morphology{Shape: m.Shape(), PhysSize: m.PhysSize, Creator: "euryale " + version()}
	for _, x := range m.Materials {
		var phase cyrsoxs.Phase
		for at, t := range map[*cyrsoxs.Field]*tensor.Tensor{&phase.Vfrac: x.Vfrac, &phase.S: x.S, &phase.Theta: x.Theta, &phase.Psi: x.Psi} {
			var err error
			if *at, err = cyrsoxs.FieldOf(t); err != nil {
				return nil, err
			}
		}
		v.Phases = append(v.Phases, phase)
	}
	rest, most := make([]float64, v.Voxels()), 0.0
	for i := range rest {
		rest[i] = 1
		for _, p := range v.Phases {
			rest[i] -= p.Vfrac.At(i)
		}
		rest[i] = max(rest[i], 0)
		most = max(most, rest[i])
	}
	if most > cyrsoxs.DefaultTolerance {
		v.Phases = append(v.Phases, cyrsoxs.Phase{Vfrac: cyrsoxs.Field{Float64: rest}})
	}
	return v, nil
}

// image returns the image of an energy and beam.
func image(p *rsoxs.Pattern, energy, beam int) []float64 {
	s := p.Intensity.Shape()
	n := s[2] * s[3]
	at := (energy*s[1] + beam) * n
	return p.Intensity.Data().([]float64)[at : at+n]
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
		d, m := image(data, e, 0), image(model, e, 0)
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
func (v *inversion) table(f *found) string {
	var b strings.Builder
	b.WriteString("<table><thead><tr><th>parameter</th><th>value</th></tr></thead><tbody>")
	for i, n := range v.names() {
		if i == mostLines {
			break
		}
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td></tr>", html.EscapeString(n), strings.Replace(plusMinus(f.x[i], f.sd[i]), "+-", "±", 1))
	}
	b.WriteString("</tbody></table>")
	return b.String()
}
