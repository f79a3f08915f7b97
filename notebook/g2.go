// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook

import (
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/viz"
)

// G2 holds the correlation functions of a file, one for each bin. It displays itself as a table.
type G2 struct {
	File   string
	Curves []g2.Curve

	ofQ bool // whether the curves are relaxation times as functions of q
}

// OpenG2 reads a result file in the APS 8-ID layout (HDF5), or a table (CSV) with the columns
// tau (s), g2 and, if known, g2_err and bin.
func OpenG2(file string) *G2 {
	curves, err := g2.OpenCurves(file)
	must("OpenG2 "+file, err)
	return &G2{File: file, Curves: curves}
}

// DemoG2 returns the correlation functions of the demonstration: simulated diffusion at twelve values
// of q.
func DemoG2() *G2 {
	dir, err := os.MkdirTemp("", "euryale-demo-")
	must("DemoG2", err)
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "g2_result.hdf")
	must("DemoG2", atomicfile.WriteBytes(file, demo.Correlations()))
	data := OpenG2(file)
	data.File = filepath.Base(file)
	return data
}

// Bin returns the curve of the bin with the given number, from 1.
func (d *G2) Bin(number int) g2.Curve {
	i := slices.IndexFunc(d.Curves, func(c g2.Curve) bool { return c.Bin == number })
	if len(d.Curves) == 0 {
		must("Bin", fmt.Errorf("%s has no bins: give the result of a correlation", d.File))
	}
	if i < 0 {
		must("Bin", fmt.Errorf("%s has no bin %d: %s", d.File, number, errtext.Choose(len(d.Curves), "bin", d.Curves[0].Bin, d.Curves[len(d.Curves)-1].Bin)))
	}
	return d.Curves[i]
}

// Fit fits a model, such as "single", to every bin by least squares.
func (d *G2) Fit(model string, options ...Settings) *G2Fits {
	m, err := g2.ByName(model)
	must("Fit", err)
	o := one("Fit", options)
	must("Fit "+model, o.takes("Fit, which fits every bin,", "fit g2", &g2.Request{}))
	must("Fit "+model, d.suits(m))
	ctx, end := interruptible()
	defer end()
	fits, err := g2.FitAll(ctx, m, d.Curves, o.settings("Fit "+model, m))
	must("Fit "+model, err)
	return &G2Fits{d, m, fits}
}

// Sample draws from the posterior of a model, such as "single", for one bin. Chains start around a
// least-squares fit.
func (d *G2) Sample(model string, options ...Settings) *Posterior {
	m, err := g2.ByName(model)
	must("Sample", err)
	o := one("Sample", options)
	must("Sample "+model, o.takes("Sample", "sample g2", &g2.Request{}, &setting.Sampler{}, "Bin"))
	s := o.settings("Sample "+model, m)
	if o.Bin == 0 && len(d.Curves) > 0 {
		o.Bin = d.Curves[0].Bin
	}
	c := d.Bin(o.Bin)
	must("Sample "+model, d.suits(m))
	ctx, end := interruptible()
	defer end()
	plain := s
	plain.Priors = nil
	point, err := g2.FitOne(ctx, m, c, plain)
	must("Sample "+model, err)
	if _, given := s.Priors["tau0"]; m.Name == "power" && !given && point.OK() && math.Abs(math.Log(point.X[0])) > 4 {
		remark(fmt.Sprintf("tau0 is about %.2g here, and its default prior lognormal(0, 2) is made for numbers near 1: give one, such as Priors: map[string]string{\"tau0\": \"lognormal(%.0f, 3)\"}", point.X[0], math.Log(point.X[0])))
	}
	chains := value("Sample "+model, func() (setting.Sampler, error) { return o.sampling(g2.Sampling()) })
	declared, err := g2.Posterior(m, c, s)
	must("Sample "+model, err)
	post, err := declared.Compile()
	must("Sample "+model, err)
	var starts [][]float64
	if point.OK() {
		starts, err = g2.Starts(post, point, s, chains.Chains, o.Seed)
		must("Sample "+model, err)
	}
	p := &Posterior{Name: d.nameOf(model, c), Units: m.Units()}
	p.judge = func(fit *infer.Fit) (check.Verdict, error) { return g2.CheckPosterior(m, c, s, fit) }
	p.page = func(p *Posterior) *report.Page {
		r := report.CurveRun{File: d.File, Model: m, Settings: s, Curve: c, Point: point, Posterior: post}
		return report.CurvePosterior(r, p.Fit, p.Verdict, report.Settings{Program: "notebook", Seed: o.Seed})
	}
	return p.sample(ctx, post, chains, o.Seed, starts)
}

// suits is an error if the curves are not what a model is of.
func (d *G2) suits(m g2.Model) error {
	if m.Of == "q" && !d.ofQ && len(d.Curves) > 0 && d.Curves[0].Q > 0 {
		return fmt.Errorf("%s is a model of tau as a function of q, but %s has g2 as a function of the delay: fit a relaxation first, such as data.Fit(\"single\").Tau()", m.Name, d.File)
	}
	if d.ofQ && m.Of != "q" {
		return fmt.Errorf("%s is a model of g2 as a function of the delay, but these are relaxation times: use power", m.Name)
	}
	return nil
}

// one returns the options, of which a call may give one set.
func one(step string, list []Settings) Settings {
	switch len(list) {
	case 0:
		return Settings{}
	case 1:
		return list[0]
	}
	must(step, fmt.Errorf("there are %d sets of options: want one", len(list)))
	return Settings{}
}

// String returns the table of the bins.
func (d *G2) String() string {
	if d.ofQ {
		return d.relaxation() + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%4s %12s %7s %13s\n", d.File, errtext.Count(len(d.Curves), "bin"), "bin", "q", "points", "delays (s)")
	for _, c := range d.Curves {
		fmt.Fprintf(&b, "%4d %12.5g %7d %13s\n", c.Bin, c.Q, len(c.X), span(c.X))
	}
	return b.String()
}

// HTML returns the table of the bins, and their curves.
func (d *G2) HTML() string {
	if d.ofQ {
		return "<p>" + html.EscapeString(d.relaxation()) + "</p>"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<p>%s: %d bins</p><table><tr><th>bin</th><th>%s</th><th>points</th><th>delays (s)</th><th>errors</th></tr>",
		html.EscapeString(d.File), len(d.Curves), html.EscapeString(label(d.Curves)))
	for _, c := range d.Curves {
		errors := "given"
		if c.Err == nil {
			errors = "not given"
		}
		fmt.Fprintf(&b, "<tr><td>%d</td><td>%.5g</td><td>%d</td><td>%s</td><td>%s</td></tr>", c.Bin, c.Q, len(c.X), span(c.X), errors)
	}
	b.WriteString("</table>")
	return b.String()
}

// relaxation describes relaxation times as a function of q.
func (d *G2) relaxation() string {
	c := d.Curves[0]
	return fmt.Sprintf("%s: relaxation times of %s, %s from %s", d.File, errtext.Count(len(c.X), "bin"), c.AxisLabel(), span(c.X))
}

// nameOf names the posterior of a model of a curve.
func (d *G2) nameOf(model string, c g2.Curve) string {
	if d.ofQ {
		return model + " of tau(q)"
	}
	return fmt.Sprintf("%s (bin %d)", model, c.Bin)
}

// SimpleRender returns text and HTML for the kernel.
func (d *G2) SimpleRender() map[string]interface{} { return rendered(d) }

func label(curves []g2.Curve) string {
	if len(curves) == 0 {
		return "q"
	}
	return curves[0].AxisLabel()
}

func span(x []float64) string {
	if len(x) == 0 {
		return "none"
	}
	return fmt.Sprintf("%.3g to %.3g", slices.Min(x), slices.Max(x))
}

// G2Fits holds the least-squares fits of the bins of a file. It displays itself as a table with plots
// of all bins and of the parameters, and says where the model disagrees with the data.
type G2Fits struct {
	Data  *G2
	Model g2.Model
	Fits  []g2.Fit
}

func (f *G2Fits) page() *report.Page {
	return report.CurveFits(f.Data.File, f.Model, f.Fits, report.Settings{Program: "notebook"})
}

// Tau returns tau as a function of q for the bins whose fits converged. A power law can be fitted to
// it: fits.Tau().Fit("power").
func (f *G2Fits) Tau() *G2 {
	if !slices.ContainsFunc(f.Fits, func(x g2.Fit) bool { return x.Curve.Q > 0 }) {
		must("Tau", fmt.Errorf("the bins of %s have no q: set data.Curves[i].Q (1/Å) before the fit", f.Data.File))
	}
	if f.Model.Of == "q" {
		must("Tau", fmt.Errorf("%s is already a model of relaxation times: use the result itself", f.Model.Name))
	}
	return &G2{File: f.Data.File, Curves: []g2.Curve{g2.TauOfQ(f.Fits)}, ofQ: true}
}

// Report writes the fits as an HTML page.
func (f *G2Fits) Report(file string) { writePage("Report", file, f.page()) }

// String returns the table of the parameters with their errors.
func (f *G2Fits) String() string {
	var b strings.Builder
	must("String", report.WriteFits(&b, f.Model, f.Fits, true))
	return b.String()
}

// HTML returns the table and the plots.
func (f *G2Fits) HTML() string { return fragment(f.page().Report) }

// SimpleRender returns text and HTML for the kernel.
func (f *G2Fits) SimpleRender() map[string]interface{} { return rendered(f) }

// fragment is the sections of a report as part of a page.
func fragment(r viz.Report) string {
	var b strings.Builder
	for _, s := range r.Sections {
		fmt.Fprintf(&b, "<h4>%s</h4>", html.EscapeString(s.Title))
		for line := range strings.Lines(s.Text) {
			fmt.Fprintf(&b, "<p>%s</p>", html.EscapeString(strings.TrimSpace(line)))
		}
		b.WriteString(strings.Join(s.Tables, ""))
		for _, figure := range s.Figures {
			b.WriteString(figure.HTML())
		}
	}
	return b.String()
}
