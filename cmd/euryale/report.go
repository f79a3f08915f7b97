package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
)

// picture is a figure of a run folder with the name of its files.
type picture struct {
	name   string
	figure *viz.Figure
}

// album collects figures; a plot that cannot be drawn is noted and left out.
type album struct {
	a        *app
	pictures []picture
}

func (b *album) add(name string, f *viz.Figure, err error) {
	if err != nil {
		b.a.note("no %s plot: %v", name, err)
		return
	}
	b.pictures = append(b.pictures, picture{name, f})
}

func (b *album) figures() []*viz.Figure {
	var out []*viz.Figure
	for _, p := range b.pictures {
		out = append(out, p.figure)
	}
	return out
}

// save writes every picture as SVG and PNG.
func (b *album) save(dir runs.Folder) error {
	if err := os.MkdirAll(dir.Path("plots"), 0o755); err != nil {
		return as(exitCannotWrite, err)
	}
	for _, p := range b.pictures {
		if err := writeFile(dir.Path("plots", p.name+".svg"), []byte(p.figure.SVG())); err != nil {
			return err
		}
		if err := writeFile(dir.Path("plots", p.name+".png"), p.figure.PNG()); err != nil {
			return err
		}
	}
	return nil
}

// curveOf makes the plot of data and line; q laws have logarithmic axes.
func curveOf(c g2.Curve, law g2.Law, band *g2.Band) viz.Curve {
	v := viz.Curve{Title: fmt.Sprintf("bin %d", c.Bin), XLabel: "delay (s)", YLabel: "g2", X: c.X, Y: c.Y, Err: c.Err, LogX: true}
	if !math.IsNaN(c.Q) && c.Q > 0 {
		name, unit := "q", "1/Å"
		if c.Axis != "" {
			name, unit = c.Axis, c.AxisUnit
		}
		v.Title += strings.TrimSpace(fmt.Sprintf(", %s = %.4g %s", name, c.Q, unit))
	}
	if law.Of == "q" {
		v.Title, v.XLabel, v.YLabel, v.LogY = "relaxation time", c.AxisLabel(), "tau (s)", true
	}
	if band != nil {
		v.LineX, v.Line, v.Low, v.High = band.X, band.Mid, band.Low, band.High
	}
	return v
}

// posteriorAlbum draws what a posterior is judged by.
func (a *app) posteriorAlbum(d viz.Draws) *album {
	b := &album{a: a}
	for _, p := range []struct {
		name string
		draw func(viz.Draws, ...string) (*viz.Figure, error)
	}{{"trace", viz.Trace}, {"rank", viz.Rank}, {"pair", viz.Pair}, {"density", viz.Density}, {"forest", viz.Forest}, {"autocorrelation", viz.Autocorrelation}, {"ess", viz.ESSEvolution}} {
		f, err := p.draw(d)
		b.add(p.name, f, err)
	}
	if d.Energy != nil {
		f, err := viz.Energy(d)
		b.add("energy", f, err)
	}
	return b
}

// saveReport writes the pictures and the report of a sampled bin.
func (a *app) saveReport(dir runs.Folder, cfg sampleConfig, law g2.Law, s g2.Settings, c g2.Curve, post *infer.Posterior, point g2.Fit, fit *infer.Fit, v check.Verdict) error {
	data := &album{a: a}
	line, err := point.Line()
	f, ferr := viz.Fit(curveOf(point.Curve, law, line))
	if err == nil {
		err = ferr
	}
	data.add("fit", f, err)
	band, err := law.PosteriorBand(c, lawDraws(law, s, fit), 0.95)
	curve := curveOf(point.Curve, law, band)
	curve.BandName = "95 % of the posterior"
	f, ferr = viz.Fit(curve)
	if err == nil {
		err = ferr
	}
	data.add("posterior_curve", f, err)
	f, err = predictive(post, point.Curve, law, fit, cfg.Seed)
	data.add("predictive", f, err)
	figures := data.figures()
	draws := viz.FromFit(fit)
	draws.Units = law.Units()
	album := a.posteriorAlbum(draws)
	sum, rep := fit.Summary(), fit.Diagnose()
	r := viz.Report{Title: fmt.Sprintf("g2, bin %d: %s", cfg.Bin, law.Name), Facts: []viz.Fact{
		{Name: "file", Value: cfg.File}, {Name: "model", Value: law.Formula}, {Name: c.AxisLabel(), Value: qText(c.Q)},
		{Name: "points", Value: fmt.Sprint(len(c.X))}, {Name: "seed", Value: fmt.Sprint(cfg.Seed)}, {Name: "version", Value: cfg.Version}, verdictFact(rep, v)},
		Sections: []viz.Section{
			{Title: "Summary", Tables: []string{sum.HTML(), rep.HTML()}},
			a.modelSection(v, data),
			{Title: "Data and model", Text: "The least-squares fit from which the chains start; the posterior of the curve, median and 95 % band; and where the model expects new data.", Figures: figures},
			{Title: "Posterior", Figures: album.figures()},
		}}
	data.pictures = append(data.pictures, album.pictures...)
	if err := data.save(dir); err != nil {
		return err
	}
	return writeFile(dir.Path("report.html"), []byte(r.HTML()))
}

// predictive draws the data over what the model expects of new data.
func predictive(post *infer.Posterior, c g2.Curve, law g2.Law, fit *infer.Fit, seed uint64) (*viz.Figure, error) {
	p, err := g2.PredictiveBands(post, fit, seed)
	if err != nil {
		return nil, err
	}
	v := curveOf(c, law, nil)
	v.LineX, v.Line, v.Low, v.High, v.InnerLow, v.InnerHigh = c.X, p.Mid, p.Low, p.High, p.InnerLow, p.InnerHigh
	return viz.Predictive(v)
}

// lawDraws returns up to 1000 draws of the law's parameters.
func lawDraws(law g2.Law, s g2.Settings, fit *infer.Fit) [][]float64 {
	var columns [][][]float64
	for _, p := range law.Params {
		columns = append(columns, fit.Draws(p.Name))
	}
	total := 0
	for c := range fit.Chains() {
		total += fit.Len(c)
	}
	step := max(1, total/1000)
	var out [][]float64
	k := 0
	for c := range fit.Chains() {
		for d := range fit.Len(c) {
			if k++; k%step != 0 {
				continue
			}
			row := make([]float64, len(columns))
			for i, col := range columns {
				if col != nil {
					row[i] = col[c][d]
				} else {
					row[i] = s.Fixed[law.Params[i].Name]
				}
			}
			out = append(out, row)
		}
	}
	return out
}

// saveFits fills the folder of point fits: the document, a grid of all bins, the
// parameters against q, and a report.
func (a *app) saveFits(dir runs.Folder, doc fitDoc, law g2.Law, fits []g2.Fit) error {
	if err := writeJSON(dir.Path("fit.json"), doc); err != nil {
		return err
	}
	b := a.fitAlbum(law, fits)
	r := viz.Report{Title: "g2: " + law.Name, Facts: []viz.Fact{{Name: "file", Value: doc.File}, {Name: "model", Value: law.Formula}, {Name: "version", Value: version()}},
		Sections: []viz.Section{{Title: "Fits", Tables: []string{fitTable(law, fits)}, Figures: b.figures()}, a.misfits(fits, b)}}
	if err := b.save(dir); err != nil {
		return err
	}
	return writeFile(dir.Path("report.html"), []byte(r.HTML()))
}

// misfits is the part of a report that judges the model bin by bin.
func (a *app) misfits(fits []g2.Fit, b *album) viz.Section {
	s := viz.Section{Title: "Model against data", Text: "Residuals in standard deviations, with a band of two."}
	var panels []viz.Curve
	for _, f := range fits {
		if f.Status == "failed" {
			continue
		}
		if !f.Check.OK {
			s.Text += fmt.Sprintf("\n- bin %d: %s", f.Curve.Bin, f.Check.Summary())
			for _, m := range f.Check.Flags {
				s.Text += fmt.Sprintf("\n- bin %d: %s", f.Curve.Bin, m)
			}
		}
		panels = append(panels, residualCurve(f.Check, fmt.Sprintf("bin %d", f.Curve.Bin)))
	}
	if len(panels) == 0 {
		return s
	}
	f, err := viz.Grid(panels)
	if b.add("residuals", f, err); err == nil {
		s.Figures = append(s.Figures, f)
	}
	return s
}

func (a *app) fitAlbum(law g2.Law, fits []g2.Fit) *album {
	b := &album{a: a}
	var curves []viz.Curve
	for _, f := range fits {
		if len(f.Curve.X) == 0 {
			continue
		}
		line, err := f.Line()
		if err != nil {
			a.note("no curve of bin %d: %v", f.Curve.Bin, err)
		}
		curves = append(curves, curveOf(f.Curve, law, line))
	}
	if len(curves) == 1 {
		f, err := viz.Fit(curves[0])
		b.add("fit", f, err)
		return b
	}
	f, err := viz.Grid(curves)
	b.add("fits", f, err)
	if law.Of == "delay" {
		f, err = parametersOf(law, fits)
		b.add("parameters", f, err)
	}
	return b
}

// parametersOf draws the parameters of the fitted bins against q.
func parametersOf(law g2.Law, fits []g2.Fit) (*viz.Figure, error) {
	x := viz.Against{Label: fits[0].Curve.AxisLabel(), Log: true}
	series := make([]viz.Series, len(law.Params))
	for i, p := range law.Params {
		series[i] = viz.Series{Name: p.Name, Unit: p.Unit, Log: p.Unit == "s"}
	}
	for _, f := range fits {
		if !f.OK() || !(f.Curve.Q > 0) {
			continue
		}
		x.X = append(x.X, f.Curve.Q)
		for i := range series {
			series[i].Y, series[i].Err = append(series[i].Y, f.X[i]), append(series[i].Err, f.SD[i])
		}
	}
	if len(x.X) == 0 {
		return nil, fmt.Errorf("no fitted bin has a %s", cmp.Or(fits[0].Curve.Axis, "q"))
	}
	return viz.Parameters(x, series...)
}

// tableDraws turns loaded draws into what the plots take.
func (t *drawTable) draws() viz.Draws {
	d := viz.Draws{Names: t.names, X: t.x, Energy: t.stat["energy"]}
	for _, c := range t.stat["diverging"] {
		row := make([]bool, len(c))
		for i, v := range c {
			row[i] = v != 0
		}
		d.Diverging = append(d.Diverging, row)
	}
	return d
}
